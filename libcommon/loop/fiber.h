/** libcommon/loop/: fibers and requests on an event loop.
 *
 *     fiber.h           coroutines: code that waits is written as if it blocked
 *     request.h         the state of a fiber's work: arena, deadline, identity, failure
 *     request_list.h    the running requests of a worker
 *     thread_pool.h     threads for computations, in two lanes
 *     wait.h            waiting for a time, for a computation, for other fibers
 *     periodic.h        work that is repeated
 *     resolver.h        looking up host names
 *     buffered_write.h  writing to a stream without waiting
 *     worker.h          a loop, its thread, its server and its clients
 *
 * Fibers. Words used here:
 *   fiber    a coroutine with its own stack, run by the loop of one thread
 *   suspend  return control to the loop until the fiber is woken
 *   wake     make the fiber ready; it continues when its loop next runs the ready fibers, which is
 *            just before and just after the loop polls
 *   cancel   make every wait of the fiber, now and later, return a reason instead
 *   exit     abandon the stack. Nothing is unwound: resources that a fiber uses belong to its
 *            request
 *
 * Stacks are mapped with a guard page and pooled per thread. The switch is Boost.Context's
 * make_fcontext() and jump_fcontext(); every switch is announced to the sanitizers. Nothing here is
 * thread-safe: a fiber runs and ends on the thread that started it. tests/lib/system/fibers_gdb.py
 * shows the fibers of a process or a core file in gdb.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>

struct fiber;

typedef void fiber_fn(void *arg);

/** Start a fiber: `fn(arg)` runs at once, up to its first suspension. When it has returned or
 * exited, `done(arg)` (may be NULL) runs on the stack of the loop or of the fiber that started this
 * one; the fiber no longer exists then. Returns no pointer to it, since it may have ended already;
 * `fn` can call fiber_self(). False: the system has no memory or no mapping left for a stack;
 * neither function was called. */
bool fiber_start(fiber_fn *fn, void *arg, fiber_fn *done);

/** The running fiber; NULL on the loop's own stack. */
struct fiber *fiber_self(void);

/** Suspend the running fiber until fiber_wake() or fiber_cancel(). A wake that happened before the
 * wait ends it at once, so call this in a loop that checks the awaited condition. Returns ERR_NONE
 * when woken, else the reason of the cancellation. */
enum err_code fiber_wait(void) attr_must_use;

/** As fiber_wait(), but a cancellation does not end it and takes effect at the next fiber_wait().
 * For waits that must not be interrupted, such as the one for the answer of a write. */
void fiber_wait_uncancelled(void);

/** Make a suspended fiber ready. A running fiber, or one that was woken already, finds the wake at
 * its next wait. The fiber never runs inside this call, so drivers may wake fibers at any point of
 * their own work. */
void fiber_wake(struct fiber *fiber);

/** Run ready fibers of this thread until none is left. Only from the loop's own stack. */
void fiber_run_ready(void);

/** Make `loop` call fiber_run_ready() before and after it polls. Does not keep the loop alive. */
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

/** End the running fiber at once. */
attr_noreturn void fiber_exit(void);

/** Fibers of this thread that have not ended, and stacks that it holds; for metrics and tests. */
size_t fiber_count(void);
size_t fiber_stacks(void);

/** Free this thread's pooled stacks. require()s that no fiber is left. */
void fiber_thread_free(void);
