/** A chore: work of the process's own that is done again and again, each pass as a request in a
 * fiber of its own. One pass at a time; a failed one is tried again with backoff and jitter. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stdint.h>

struct chore;

#define CHORE_WHEN_WOKEN UINT64_MAX

/** Make a chore; nothing runs before chore_wake(). `run` is a pass, which finds
 * `user` with chore_user(). `every_ms` is the pause, give or take a fifth, between a pass that went
 * well and the next; CHORE_WHEN_WOKEN: none. */
struct chore *chore_new(struct worker *worker, const char *name, request_fn *run, void *user,
                        uint64_t every_ms, uint64_t timeout_ms);

/** In a pass: what chore_new() was given. */
void *chore_user(const struct request *rq);

/** Run a pass now, or as soon as the one under way has ended. */
void chore_wake(struct chore *chore);

/** Run a pass `ms` from now at the latest; during a pass: `ms` after it. A chore that has just
 * failed comes when its backoff is over. */
void chore_wake_in(struct chore *chore, uint64_t ms);

/** No further pass; the one under way is cancelled. NULL is fine. */
void chore_stop(struct chore *chore);

/** Whether no pass is under way. */
bool chore_is_idle(const struct chore *chore);

/** Free a stopped chore whose pass has ended; the loop has to run on for libuv's close callback.
 * NULL is fine. */
void chore_free(struct chore *chore);
