/** Renews the leases of the tasks that run in this process. Internal to this folder.
 *
 * A claim gives the lease of a task to one process for tasks_timing.lease. It is renewed whenever a
 * third of that time has passed. When a lease expires, reconcile.c queues the task again and
 * another process can claim it. */
#pragma once

#include "task/tasks.h"

/** Pass of the lease renewer (periodic.h), whose user is the struct tasks. Cancels the jobs that
 * have lost their task. */
void job_lease_renew_pass(struct request *rq);
