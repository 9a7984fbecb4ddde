/** Waits for an entry of `jobs.<service>`, which says that tasks wait. Internal to this folder.
 *
 * One entry wakes one of the processes that wait. A process whose slots were filled meanwhile, by
 * tasks of its own (job_wake.h), passes the entry on. */
#pragma once

#include "task/tasks.h"

/** Pass of the listener (periodic.h), whose user is the struct tasks: waits for an entry, or for
 * tasks_timing.block, and lets the reader look for tasks. The reader wakes it when it has found no
 * more. */
void job_listen_pass(struct request *rq);
