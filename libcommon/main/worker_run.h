/** Runs the workers of a process: their start, requests and background work, and the drain. */
#pragma once

#include "service/process.h"

/** Run all workers until the process has drained after SIGTERM or SIGINT. The calling thread
 * becomes that of the first worker. Returns the exit status. Internal to service_main(). */
int workers_run(struct process *process);
