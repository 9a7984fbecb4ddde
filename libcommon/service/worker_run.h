/** Starting, running and ending the workers of a process. */
#pragma once

#include "loop/request.h"
#include "service/process.h"

/** Run every worker until SIGTERM or SIGINT has been obeyed: the calling thread becomes worker 0.
 * Returns the exit status. */
int workers_run(struct process *process);

/** Run `fn` in a fiber for a command, with a loop, clients and a migrated schema but without
 * listeners, jobs and deadlines; `rq->user` is `user`. Its request has no identity. Returns 0, or 1
 * after one line on standard error when it raised or the database is away. */
int worker_command(struct process *process, request_fn *fn, void *user);
