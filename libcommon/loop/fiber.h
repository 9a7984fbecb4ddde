/** Fibers: code that waits is written as if it blocked, and the event loop goes on underneath.
 *
 * Words used here:
 *   fiber    a coroutine with a stack of its own, run by one thread's loop
 *   suspend  hand the thread back to the loop until somebody wakes the fiber
 *   wake     make it ready: it goes on when its loop next runs the ready fibers, just before and
 *            just after it polls
 *   cancel   make every wait of the fiber, now and later, return a reason instead
 *   exit     abandon the stack. Nothing is unwound: what a fiber holds belongs to its request's
 *            arena
 *
 * Stacks are mapped with a guard page and pooled per thread. The switch is Boost.Context's
 * make_fcontext() and jump_fcontext(); the sanitizers are told of every switch. Nothing here is
 * thread-safe: a fiber lives and dies on the thread that started it.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <uv.h>

#include <stddef.h>

struct fiber;

typedef void fiber_fn(void *arg);

/** Start a fiber: `fn(arg)` runs at once, up to its first suspension. When it has returned or
 * exited, `done(arg)` (may be NULL) runs on the loop's stack, or that of the fiber which started
 * this one, with the fiber already gone. Returns nothing, since the fiber may have ended by then:
 * `fn` knows itself by fiber_self(). */
void fiber_start(fiber_fn *fn, void *arg, fiber_fn *done);

/** The running fiber; NULL on the loop's own stack. */
struct fiber *fiber_self(void);

/** Suspend the running fiber until fiber_wake() or fiber_cancel(). A wake that came before the wait
 * ends it at once, so check the awaited condition in a loop. Returns ERR_NONE when woken, else the
 * reason of the cancellation. */
enum err_code fiber_wait(void) attr_must_use;

/** As fiber_wait(), for what must not be left half way (the answer of a write): a cancellation
 * waits until the next fiber_wait(). */
void fiber_wait_uncancelled(void);

/** Make a suspended fiber ready; a running or already woken one finds it at its next wait. Never
 * runs it here and now, so drivers may wake fibers in the middle of their own work. */
void fiber_wake(struct fiber *fiber);

/** Run ready fibers of this thread until none is left. From the loop's own stack alone. */
void fiber_run_ready(void);

/** Have `loop` call fiber_run_ready() before and after it polls, from now on; does not keep the
 * loop alive. */
void fiber_loop_attach(uv_loop_t *loop);

/** Undo fiber_loop_attach(); the loop has to run once more for libuv's close callbacks. */
void fiber_loop_detach(uv_loop_t *loop);

/** Cancel for `reason` (not ERR_NONE); the first reason stays. Makes the fiber ready when it
 * waits. */
void fiber_cancel(struct fiber *fiber, enum err_code reason);

/** The reason of the cancellation, ERR_NONE when there is none. */
enum err_code fiber_cancelled(const struct fiber *fiber);

/** Name the running fiber, for log lines and debuggers: the request id. Borrows. */
void fiber_set_label(const char *label);

/** The running fiber's name; NULL outside fibers and before it has one. */
const char *fiber_label(void);

/** End the running fiber here and now. */
attr_noreturn void fiber_exit(void);

/** Fibers of this thread that have not ended, and stacks that it holds: for metrics and tests. */
size_t fiber_count(void);
size_t fiber_stacks(void);

/** Give back this thread's pooled stacks; require()s that no fiber is left. */
void fiber_thread_free(void);
