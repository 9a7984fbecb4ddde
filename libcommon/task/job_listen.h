/** Waits for an entry of `jobs.<service>`, which says that tasks wait. Internal to this folder.
 *
 * One entry wakes one of the processes that wait. A process passes it on when its slots were filled
 * meanwhile, by tasks of its own (job_wake.h), or when it has added the entry itself for others:
 * Redis gives an entry to the process that has waited longest, and that can be this one. It does
 * not wait when it adds the entry again, so another one gets it. */
#pragma once

#include "task/tasks.h"

/** Pass of the listener (periodic.h), whose user is the struct tasks: waits for an entry, or for
 * tasks_timing.block, and lets the reader look for tasks. The reader wakes it when it has found no
 * more. */
void job_listen_pass(struct request *rq);
