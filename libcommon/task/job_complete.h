/** Completes tasks: those that end at about the same time share one transaction and one round trip.
 * Internal to this folder.
 *
 *     waiting -> in a batch -> over
 *
 * A batch begins at once, unless BATCHES_MAX are under way: what ends meanwhile is in the next one.
 * It runs the last statement of each job, then one that completes all their tasks. When one of them
 * fails, nothing of the batch was done, and each is tried alone, so that no job sees the failure of
 * another. One that waits for a lock of a row fails after a second, one whose statement takes long
 * after two. */
#pragma once

#include "task/tasks.h"

struct pg_call;

/** A task that is to be completed; on the stack of its job. */
struct completion {
	STAILQ_ENTRY(completion) entry;
	struct fiber *fiber;
	const struct task *task;
	const struct pg_call *last_write;  /* NULL: none */
	const char *result_json, *message; /* may be NULL */
	bool is_alone;                     /* its batch has failed: it is tried by itself */
	bool is_over;
	enum err_code code;        /* once it is over */
	const struct fault *fault; /* NULL: none */
};

/** Complete the task, outside of a transaction. Suspends; a cancellation does not end the wait.
 * Raises as pg_query(), and ERR_CONFLICT when another worker has taken the task over: then its last
 * write was not done. */
void job_complete(struct request *rq, struct tasks *tasks, struct completion *completion);
