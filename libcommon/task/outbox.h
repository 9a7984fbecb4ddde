/** The relay: sends rows of the table `outbox` to Redis Streams, in order. Internal to this folder.
 *
 * One process at a time sends, the holder of the lease `outbox`. A batch goes
 *
 *     read unsent rows -> number the batch -> Redis adds all entries or none -> mark the rows as
 *     sent
 *
 * in short statements. What is cut short is sent again: entries arrive at least once, and an event
 * has the same id each time. Redis keeps the fence of the newest sender and the number of the
 * newest batch:
 *
 *     fence newer than the sender's       it was taken over while it was stopped: it sends nothing
 *     batch older than Postgres's newest  Redis lost entries: the rows after that batch are sent
 *                                         again
 *     batch that Postgres has not given   Postgres was restored to an earlier point: all rows that
 *                                         the outbox still has are sent again
 */
#pragma once

#include "task/tasks.h"

/** Pass of the relay (periodic.h), whose user is the struct tasks: sends one batch. */
void outbox_pass(struct request *rq);

/** Measure what waits for the relay, whichever process that is. Suspends; raises. */
void outbox_measure(struct request *rq, struct tasks *tasks);

/** A batch that is being collected, in the arena. */
struct publication {
	struct request *rq;
	struct tasks *tasks;
	const char **argv;
	size_t argc, room;
};

/** What Postgres knows, compared with what Redis knows before anything is added. */
struct publication_state {
	int64_t fence;          /* of the sender's lease */
	int64_t sent_batch;     /* the newest batch that was sent */
	int64_t numbered_batch; /* the newest batch that has a number */
	int64_t batch;          /* the number of this one; 0: it has none */
};

/** Begin a batch. */
struct publication publication_new(struct request *rq, struct tasks *tasks,
                                   const struct publication_state *state);

/** Add an entry of `fields` (name, value, ...). Borrows. */
void publication_add(struct publication *publication, const char *stream, const char *const *fields,
                     size_t count);

/** With any outcome but the first, nothing was added. The values are those of the script. */
enum publication_outcome {
	PUBLICATION_ADDED = 0,    /* `number` entries */
	PUBLICATION_FENCED = 1,   /* another sender has the newer fence `number` */
	PUBLICATION_LOST = 2,     /* Redis has lost the batches after `number` */
	PUBLICATION_RESTORED = 3, /* Redis has batch `number`, which Postgres does not know of */
};

struct publication_result {
	enum publication_outcome outcome;
	int64_t number;
};

/** Send it. Suspends; raises as redis_command() does. */
struct publication_result publication_send(struct publication *publication);
