/** libcommon/loop/: what runs on an event loop.
 *
 *     fiber.h         coroutines: code that waits is written as if it blocked
 *     request.h       what a fiber works on: an arena, a deadline, an identity, and how it fails
 *     request_list.h  the requests of a worker that are under way
 *     wait.h          waiting for time, for the thread pool, for other fibers
 *     periodic.h      work that is repeated
 *     resolver.h      looking up host names
 *     worker.h        a loop with its clients
 *
 * Fibers. Words used here:
 *   fiber    a coroutine with a stack of its own, run by one thread's loop
 *   suspend  hand the thread back to the loop until the fiber is woken
 *   wake     make the fiber ready; it continues when its loop next runs the ready fibers, which is
 *            just before and just after the loop polls
 *   cancel   make every wait of the fiber, now and later, return a reason instead
 *   exit     abandon the stack. Nothing is unwound: what a fiber holds belongs to its request
 *
 * Stacks are mapped with a guard page and pooled per thread. The switch is Boost.Context's
 * make_fcontext() and jump_fcontext(); the sanitizers are told of every switch. Nothing here is
 * thread-safe: a fiber lives and ends on the thread that started it. tests/lib/fibers_gdb.py shows
 * the fibers of a process or a core file in gdb.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <uv.h>

#include <stddef.h>

struct fiber;

typedef void fiber_fn(void *arg);

/** Start a fiber: `fn(arg)` runs at once, up to its first suspension. When it has returned or
 * exited, `done(arg)` (may be NULL) runs on the stack of the loop or of the fiber that started this
 * one; the fiber no longer exists then. Returns nothing, since the fiber may have ended already:
 * `fn` finds it with fiber_self(). */
void fiber_start(fiber_fn *fn, void *arg, fiber_fn *done);

/** The running fiber; NULL on the loop's own stack. */
struct fiber *fiber_self(void);

/** Suspend the running fiber until fiber_wake() or fiber_cancel(). A wake that came before the wait
 * ends it at once, so call this in a loop that checks the awaited condition. Returns ERR_NONE when
 * woken, else the reason of the cancellation. */
enum err_code fiber_wait(void) attr_must_use;

/** As fiber_wait(), for what must not be interrupted (the answer of a write): a cancellation takes
 * effect at the next fiber_wait(). */
void fiber_wait_uncancelled(void);

/** Make a suspended fiber ready. A running fiber, or one that was woken already, finds the wake at
 * its next wait. The fiber never runs inside this call, so drivers may wake fibers in the middle of
 * their own work. */
void fiber_wake(struct fiber *fiber);

/** Run ready fibers of this thread until none is left. Only from the loop's own stack. */
void fiber_run_ready(void);

/** Have `loop` call fiber_run_ready() before and after it polls. Does not keep the loop alive. */
void fiber_loop_attach(uv_loop_t *loop);

/** Undo fiber_loop_attach(); the loop has to run once more for libuv's close callbacks. */
void fiber_loop_detach(uv_loop_t *loop);

/** Cancel for `reason` (not ERR_NONE). The first reason is kept. A waiting fiber becomes ready. */
void fiber_cancel(struct fiber *fiber, enum err_code reason);

/** The reason of the cancellation; ERR_NONE when the fiber was not cancelled. */
enum err_code fiber_cancelled(const struct fiber *fiber);

/** Name the running fiber for log lines and debuggers, usually by the request id. Borrows. */
void fiber_set_label(const char *label);

/** The running fiber's name; NULL outside of fibers and before it has one. */
const char *fiber_label(void);

/** End the running fiber here and now. */
attr_noreturn void fiber_exit(void);

/** Fibers of this thread that have not ended, and stacks that it holds; for metrics and tests. */
size_t fiber_count(void);
size_t fiber_stacks(void);

/** Give back this thread's pooled stacks. require()s that no fiber is left. */
void fiber_thread_free(void);
