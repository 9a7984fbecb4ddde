/** Starting, running and ending the workers of a process. */
#pragma once

#include "worker.h"

/** Run every worker until SIGTERM or SIGINT has been obeyed: the calling thread becomes worker 0. Returns the exit status. */
int workers_run(struct process *process);
