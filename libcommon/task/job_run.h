/** Runs jobs: makes one attempt for each claimed task, in a fiber. Internal to this folder.
 *
 *     claimed -> running --returned--> ended
 *                   |  |
 *                   |  +-- raised -> settling -> ended
 *                   +-- lease lost: cancelled; its writes to the task match no row
 *
 * Jobs that end together share the commit of task_complete() (pg/batch.h): the last statement of
 * each, then one that completes all their tasks.
 */
#pragma once

#include "task/tasks.h"

/** A job takes a slot. Those of a quick kind (tasks_timing.quick) mostly wait for their commits:
 * SLOT_SHARES of them share one. */
#define SLOT_SHARES 8

/** One attempt of a task; in its own arena. */
struct job_run {
	LIST_ENTRY(job_run) entry; /* in tasks->runs */
	struct tasks *tasks;
	const struct job *job;
	struct arena *arena;
	struct task task;        /* `input` is in the arena of `request` */
	const char *input;       /* JSON */
	int interruptions;       /* before this attempt */
	int shares;              /* of the slots, SLOT_SHARES of each */
	struct request *request; /* of the job; NULL once it has ended */
	bool is_complete;
	bool is_in_renewal; /* part of the current renewal */
	uint64_t started_us;
	const char *request_id;  /* the task's id, if none is known */
	struct span *span;       /* NULL: not traced */
	const char *traceparent; /* for calls; NULL: none */
};

/** A task that this process has claimed: its row. */
struct job_claimed {
	const char *id, *kind, *input;
	const char *account;    /* NULL: the service's own */
	const char *request_id; /* of the request that started it; NULL: unknown */
	int attempt, interruptions;
};

/** Begin the counts of failed tasks, a kind each, at 0: the increase of a count that begins with
 * its first failures is not seen. */
void job_metrics_start(const struct job *jobs);

/** Run the job of a claimed task; there must be one. Copies. */
void job_run_start(struct tasks *tasks, const struct job_claimed *claimed);

/** Whether its kind is quick here; before some of its attempts were completed it is not, and a long
 * one never. */
bool job_is_quick(const struct tasks *tasks, const struct job *job);

/** Attempts of the job's tasks that may fail. */
int job_attempts_max(const struct job *job);
