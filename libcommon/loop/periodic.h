/** Work that a process repeats. Each pass is a request in its own fiber; only one pass runs at a
 * time. A failed pass is tried again with backoff and jitter. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stdint.h>

struct periodic;

#define PERIODIC_WHEN_WOKEN UINT64_MAX

/** Make a periodic; nothing runs before periodic_wake(). `run` is one pass and gets `user` from
 * periodic_user(). After a successful pass the next one starts `every_ms` later, plus or minus a
 * fifth; with PERIODIC_WHEN_WOKEN it starts only when woken. A pass is cancelled after
 * `timeout_ms`. Borrows the name. */
struct periodic *periodic_new(struct worker *worker, const char *name, request_fn *run, void *user,
                              uint64_t every_ms, uint64_t timeout_ms);

/** In a pass: the `user` of periodic_new(). */
void *periodic_user(const struct request *rq);

/** Run a pass now, or as soon as the running one has ended. */
void periodic_wake(struct periodic *periodic);

/** As periodic_wake(), but without its pause of a millisecond: if no pass is running, one starts in
 * this call. */
void periodic_run(struct periodic *periodic);

/** Run a pass at most `ms` from now, or, when called during a pass, at most `ms` after its end.
 * After a failure the backoff decides instead. */
void periodic_wake_in(struct periodic *periodic, uint64_t ms);

/** Start no further pass and cancel the running one. NULL is fine. */
void periodic_stop(struct periodic *periodic);

/** Whether no pass is running. */
bool periodic_is_idle(const struct periodic *periodic);

/** Free a periodic that was stopped and whose last pass has ended. The loop has to run once more
 * for libuv's close callback. NULL is fine. */
void periodic_free(struct periodic *periodic);
