/** Adds batches of entries to streams, all of a batch or none. A task has at most one entry: publishing it
 * again does nothing while its entry is in the stream. Internal to this folder.
 */
#pragma once

#include "task/tasks.h"

/** A batch that is being collected, in the arena. */
struct publication {
	struct request *rq;
	struct tasks *tasks;
	const char **argv;
	size_t argc, room;
};

/** Begin a batch. `batch` is its number; 0: it has none. `known_batch` is the newest batch that was sent:
 * if Redis does not have it, Redis has lost entries, and nothing is added. */
struct publication publication_new(struct request *rq, struct tasks *tasks, int64_t known_batch,
                                   int64_t batch);

/** Add a task's entry; Redis skips it when the stream already has one. Borrows. */
void publication_add_job(struct publication *publication, const char *task, const char *kind);

/** Add an entry of `fields` (name, value, ...). Borrows. */
void publication_add(struct publication *publication, const char *stream, const char *const *fields,
                     size_t count);

struct publication_result {
	bool is_lost;        /* Redis does not have `known_batch`: nothing was added */
	int64_t redis_batch; /* if lost: the newest batch that Redis has */
	int64_t added;       /* entries */
};

/** Send it. Suspends; raises as redis_command() does. */
struct publication_result publication_send(struct publication *publication);

/** Acknowledge and delete the entry of a task. Suspends; raises as redis_command() does. */
void job_entry_remove(struct request *rq, struct tasks *tasks, const char *entry_id,
                      const char *task_id);
