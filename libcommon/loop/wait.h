/** What a request can wait for besides a server's answer: time, a computation on the thread pool,
 * other fibers. All of these suspend the running fiber.
 */
#pragma once

#include "loop/request.h"

#include <stdint.h>

/** Wait `ms` milliseconds. Raises the reason when the request is cancelled before: ERR_TIMEOUT at
 * its deadline. */
void fiber_sleep(struct request *rq, uint64_t ms);

/** Run `work(arg)` on libuv's thread pool and wait until it has run; `arg` may be in the request's
 * arena or on its stack. The pool's thread uses `arg`, so a cancellation does not end the wait: it
 * is raised once the work has ended. The work must not touch the request or anything of the loop;
 * what it allocates comes from offload_arena(). */
void fiber_offload(struct request *rq, void (*work)(void *arg), void *arg);

/** An arena for work on another thread, which nothing else uses meanwhile; freed with the request's
 * arena. */
struct arena *offload_arena(struct request *rq);

/** Run `fn(member)` in a fiber of its own as part of the request's work, beside this fiber and its
 * other members: with an arena of its own and the request's id, identity and deadline;
 * member->user is `user`.
 *
 * The members are a group. Cancelling the request cancels them. One that fails cancels the others.
 * The request does not end before its members have: one that raises, or returns without
 * fiber_join(), cancels them and waits for them first. So what they use may be in the request's
 * arena; on its stack only when fiber_join() comes next. */
void fiber_spawn(struct request *rq, request_fn *fn, void *user);

/** As fiber_spawn(), and the member's deadline is at most `timeout_ms` from now. */
void fiber_spawn_within(struct request *rq, uint64_t timeout_ms, request_fn *fn, void *user);

/** Wait until all members have ended, then raise the first failure, if there was one. A new group
 * may be spawned afterwards. */
void fiber_join(struct request *rq);

/** As fiber_join(), and the failure is returned: `ret_problem` (may be NULL) tells more, in the
 * request's arena. Raises only when the request itself is cancelled. */
enum err_code fiber_join_try(struct request *rq, struct problem *ret_problem);
