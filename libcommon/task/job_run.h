/** Runs jobs: reads the stream of the service and makes one attempt for each entry, in a fiber.
 * Internal to this folder.
 *
 *     entry -> claim --ours--> running --returned, raised--> settling -> removed
 *                |                |
 *                +-- not ours     +-- lease lost: cancelled; its writes to the task match no row
 */
#pragma once

#include "base/uuid.h"
#include "task/tasks.h"

#define ENTRY_ID_MAX 48

/** One attempt of a task. */
struct job_run {
	LIST_ENTRY(job_run) entry; /* in tasks->runs */
	struct tasks *tasks;
	const struct job *job;
	char entry_id[ENTRY_ID_MAX];
	char task_id[UUID_TEXT_LEN + 1];
	struct task task;        /* once claimed; in the arena of `request` */
	int interruptions;       /* before this attempt */
	struct request *request; /* of the job; NULL once it has ended */
	bool is_claimed, is_complete;
	bool is_in_renewal; /* part of the current renewal */
	uint64_t started_us;
};

/** Pass of the reader (periodic.h), whose user is the struct tasks: reads as many entries as there are
 * free slots, waits for new ones if the stream has none, and starts their runs. The end of each run
 * wakes the reader. */
void job_read_pass(struct request *rq);

/** Add a failed task to `jobs.dead`, for operators. A failure to do so is only logged. Suspends. */
void job_dead_letter(struct request *rq, struct tasks *tasks, const char *task_id, const char *kind,
                     const char *account, int64_t attempts, const char *error);

/** Register the metrics; once, before threads. */
void job_run_register(void);
