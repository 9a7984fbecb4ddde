/** Work of the process's own that is repeated. Each pass runs as a request in a fiber of its own, one
 * pass at a time. A failed pass is tried again with backoff and jitter. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stdint.h>

struct periodic;

#define PERIODIC_WHEN_WOKEN UINT64_MAX

/** Make one; nothing runs before periodic_wake(). `run` is one pass; it gets `user` by
 * periodic_user(). After a pass that succeeded the next one starts `every_ms` later, plus or minus a
 * fifth; with PERIODIC_WHEN_WOKEN it starts only when woken. `timeout_ms` is the deadline of a pass.
 * Borrows the name. */
struct periodic *periodic_new(struct worker *worker, const char *name, request_fn *run, void *user,
                              uint64_t every_ms, uint64_t timeout_ms);

/** In a pass: the `user` of periodic_new(). */
void *periodic_user(const struct request *rq);

/** Run a pass now, or as soon as the one under way has ended. */
void periodic_wake(struct periodic *periodic);

/** Run a pass at most `ms` from now, or, when called during a pass, at most `ms` after its end. After
 * a failure the backoff decides instead. */
void periodic_wake_in(struct periodic *periodic, uint64_t ms);

/** Start no further pass and cancel the one under way. NULL is fine. */
void periodic_stop(struct periodic *periodic);

/** Whether no pass is under way. */
bool periodic_is_idle(const struct periodic *periodic);

/** Free one that was stopped and whose pass has ended; the loop has to run on for libuv's close
 * callback. NULL is fine. */
void periodic_free(struct periodic *periodic);
