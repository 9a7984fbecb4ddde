/** One attempt of a task: claim it, run its job, settle the outcome.
 *
 *     entry -> claim --ours--> running --returned, raised--> settling -> gone
 *                |                |
 *                +-- not ours     +-- lease lost: cancelled, what it writes is refused
 */
#pragma once

#include "base/uuid.h"
#include "task/internal.h"

#define ENTRY_ID_MAX 48

struct job_run {
	struct tasks *tasks;
	const struct job *job;
	char entry_id[ENTRY_ID_MAX];
	char task_id[UUID_TEXT_LEN + 1];
	struct task task;        /* once claimed; in the arena of `request` */
	struct request *request; /* of the job; NULL once it has ended */
	bool is_claimed, is_complete;
	bool is_asked_for; /* in the renewal that is under way */
	uint64_t started_us;
	struct job_run *next;
};
