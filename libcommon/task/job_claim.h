/** Claims tasks for the free slots of this process. Internal to this folder.
 *
 *     woken (wake.h) -> tasks claimed -> runs started
 *
 * A process that finds more tasks than it can run passes the message on. Which tasks it gets is
 * decided by Postgres: the one whose account has the fewest running tasks, then the lowest turn
 * (task_claim() in task.fn.sql).
 *
 * Jobs of kinds that are `is_long` never take all slots: a quarter of them, at least one, is kept
 * for the others (a process with one slot has none to keep). Jobs of quick kinds share slots
 * (job_run.h), except for one slot, which is kept for any kind, so that quick ones never keep the
 * others out. Where each kind is quick, the end of a run claims no task by itself: a claim waits a
 * few milliseconds until half of the slots are free.
 */
#pragma once

#include "task/tasks.h"

/** Pass of the reader (periodic.h), whose user is the struct tasks: claims tasks for the free slots
 * and starts their runs, or, when there may be none, has the listener wait for an entry. The end of
 * each run wakes it. */
void job_claim_pass(struct request *rq);

/** Tasks may wait: look for them at once, or when a slot is free. False: none is free. */
bool job_claim_look(struct tasks *tasks);

/** Pass of the lease renewer (periodic.h), whose user is the struct tasks. Renews the leases of the
 * tasks that run here whenever a third of tasks_timing.lease has passed, and cancels the jobs that
 * have lost their task: when a lease expires, reconcile.c queues the task again and another process
 * can claim it. */
void job_claim_renew_pass(struct request *rq);

/** Claim no more. A claim that is under way ends first, since its tasks would wait for their
 * leases; see periodic_is_idle(tasks->reader). */
void job_claim_stop(struct tasks *tasks);
