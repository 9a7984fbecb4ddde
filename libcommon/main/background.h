/** What runs on the background worker of a process: in the role `jobs` (roles.h) tasks, events, the
 * outbox relay, the reconciler and recurring work (task/task.h); in any role what the service adds
 * (struct service, background_start). Only for worker_run.c. */
#pragma once

#include "loop/worker.h"

#include <stdint.h>

struct background;

/** Start all of it on the thread of `worker`. */
struct background *background_start(struct worker *worker);

/** Do the recurring work now, and not only when it is due. NULL is fine. */
void background_recur(struct background *background);

/** Take no new work. `drained(context)` is called when the running jobs and event handlers have
 * ended, at the latest `timeout_ms` from now; perhaps before this function returns. */
void background_drain(struct background *background, uint64_t timeout_ms,
                      void (*drained)(void *context), void *context);

/** After the drain, once no request of the worker runs: start a request that lets other processes
 * take over at once (tasks_give_up_leases()). */
void background_end(struct background *background);

/** Stop and free; require()s that no request of the worker runs. The loop has to run on for libuv's
 * callbacks. */
void background_free(struct background *background);
