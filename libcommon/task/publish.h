/** Adds batches of entries to streams, all of a batch or none. Internal to this folder. */
#pragma once

#include "task/tasks.h"

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
