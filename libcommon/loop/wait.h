/** Waiting for a time, for a computation on another thread and for other fibers. fiber_sleep(),
 * fiber_offload() and fiber_join() suspend the running fiber. None of them may be called in a
 * transaction of Postgres, which would keep its locks during the wait
 * (request_require_no_transaction()).
 */
#pragma once

#include "loop/request.h"
#include "loop/thread_pool.h"

#include <stdint.h>

/** Wait `ms` milliseconds. Raises when the request is cancelled before, for example ERR_TIMEOUT at
 * its deadline. */
void fiber_sleep(struct request *rq, uint64_t ms);

/** Run `work(arg)` on a thread of the lane (thread_pool.h), when it is the turn of the caller's
 * account, and wait until it has ended; `arg` may be in the request's arena or on its stack. A
 * cancellation ends the wait at once when the work has not begun. Otherwise it is raised when the
 * work has ended, since the other thread uses `arg`. The work must not use the request or anything
 * else of the loop; it allocates from offload_arena(), or from the request's arena when the request
 * has no members (fiber_spawn()) at that time. Raises ERR_UNAVAILABLE when the system allows no
 * thread. */
void fiber_offload(struct request *rq, enum lane lane, void (*work)(void *arg), void *arg);

/** A computation on a text of more bytes would let the loop's other requests wait. */
#define OFFLOAD_TEXT_BYTES ((size_t)64 << 10)

/** Run `work(arg)`, which reads or writes a text of `bytes`: as fiber_offload() in LANE_SHORT, or
 * at once when there are at most OFFLOAD_TEXT_BYTES or the request is in a transaction. */
void fiber_offload_text(struct request *rq, size_t bytes, void (*work)(void *arg), void *arg);

/** A new arena for fiber_offload(): while the work runs, nothing else may use it. Freed with the
 * request's arena. */
struct arena *offload_arena(struct request *rq);

/** Run `fn(member)` in a new fiber, concurrently with this one. `member` is a request with its own
 * arena and with the id, identity and deadline of `rq`; member->user is `user`.
 *
 * The members of a request are a group. Cancelling the request cancels them. When one fails, the
 * others are cancelled. The request ends after its members: when its fiber raises, or returns
 * without fiber_join(), they are cancelled and waited for. So members may use the request's arena;
 * they may use its stack only if nothing between fiber_spawn() and fiber_join() can raise.
 *
 * A group that begins in a page (request_page_begin()) is joined in that page: request_page_end()
 * require()s it, since the group's memory ends with the page. */
void fiber_spawn(struct request *rq, request_fn *fn, void *user);

/** As fiber_spawn(); the member's deadline is at most `timeout_ms` from now. */
void fiber_spawn_within(struct request *rq, uint64_t timeout_ms, request_fn *fn, void *user);

/** Wait until all members have ended, then raise the first failure, if there was one. Afterwards
 * fiber_spawn() begins a new group. */
void fiber_join(struct request *rq);

/** As fiber_join(), but returns the code of the first failure and sets `ret_problem` (may be NULL),
 * whose texts are in the request's arena. Raises only when the request itself is cancelled. */
enum err_code fiber_join_try(struct request *rq, struct problem *ret_problem);
