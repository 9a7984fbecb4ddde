/** A periodic: work of the process's own that is done again and again, each pass as a request in a
 * fiber of its own. One pass at a time; a failed one is tried again with backoff and jitter. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stdint.h>

struct periodic;

#define PERIODIC_WHEN_WOKEN UINT64_MAX

/** Make a periodic; nothing runs before periodic_wake(). `run` is a pass, which finds
 * `user` with periodic_user(). `every_ms` is the pause, give or take a fifth, between a pass that went
 * well and the next; PERIODIC_WHEN_WOKEN: none. */
struct periodic *periodic_new(struct worker *worker, const char *name, request_fn *run, void *user,
                              uint64_t every_ms, uint64_t timeout_ms);

/** In a pass: what periodic_new() was given. */
void *periodic_user(const struct request *rq);

/** Run a pass now, or as soon as the one under way has ended. */
void periodic_wake(struct periodic *periodic);

/** Run a pass `ms` from now at the latest; during a pass: `ms` after it. A periodic that has just
 * failed comes when its backoff is over. */
void periodic_wake_in(struct periodic *periodic, uint64_t ms);

/** No further pass; the one under way is cancelled. NULL is fine. */
void periodic_stop(struct periodic *periodic);

/** Whether no pass is under way. */
bool periodic_is_idle(const struct periodic *periodic);

/** Free a stopped periodic whose pass has ended; the loop has to run on for libuv's close callback.
 * NULL is fine. */
void periodic_free(struct periodic *periodic);
