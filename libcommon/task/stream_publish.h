/** Putting entries on streams, all of a batch or none, once for each task. */
#pragma once

#include "task/internal.h"

/** A batch that is being gathered, in the arena. */
struct publication {
	struct request *rq;
	struct tasks *tasks;
	const char **argv;
	size_t argc, room;
	size_t entries;
};

/** Begin a batch. `known_batch`: the newest batch that Redis must know of, or it has lost entries
 * and takes nothing; `batch`: the number of this one, 0: it has none. */
struct publication publication_new(struct request *rq, struct tasks *tasks, int64_t known_batch,
                                   int64_t batch);

/** Add a task's entry; left out at the end when the stream holds one already. */
void publication_add_job(struct publication *publication, const char *task, const char *kind);

/** Add an entry of `fields` (name, value, ...). Borrows. */
void publication_add(struct publication *publication, const char *stream, const char *const *fields,
                     size_t count);

struct publication_result {
	bool is_lost;        /* Redis does not know of `known_batch`: nothing was taken */
	int64_t redis_batch; /* then: the newest that it knows */
	int64_t added;       /* entries */
};

/** Send it. Suspends; raises as redis_command() does. */
struct publication_result publication_send(struct publication *publication);
