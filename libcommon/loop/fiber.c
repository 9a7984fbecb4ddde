#include "loop/fiber.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* Boost.Context's C symbols; it ships no C header. */
typedef void *fcontext_t;
struct transfer {
	fcontext_t from;
	void *data;
};
extern fcontext_t make_fcontext(void *stack_top, size_t size, void (*fn)(struct transfer));
extern struct transfer jump_fcontext(fcontext_t to, void *data);

/* Handlers were measured to use less than 20 KiB; the deepest calls are those of libpq and of
 * yyjson's number writer. Pages that were never touched cost no memory. Sanitizers put red zones
 * into every frame. */
#if defined(WITH_ASAN) || defined(WITH_TSAN)
#define STACK_BYTES ((size_t)512 * 1024)
#else
#define STACK_BYTES ((size_t)128 * 1024)
#endif

#define STACKS_POOLED_MAX 64

/* One flow of control, a fiber or the loop's own stack, and its data for the sanitizers. */
struct flow {
	fcontext_t context;
	const void *stack_bottom;
	size_t stack_bytes;
	void *asan_fake_stack;
	void *tsan_fiber;
};

/* Stored at the top of its own stack. */
struct fiber {
	struct flow flow;
	struct flow *resumer;
	struct fiber *resumer_fiber;
	fiber_fn *fn, *done;
	void *arg;
	LIST_ENTRY(fiber) entry;   /* in thread.fibers */
	STAILQ_ENTRY(fiber) ready; /* in thread.ready, when is_ready */
	char *mapping;             /* guard page, then the stack */
	const char *label;         /* NULL: none */
	enum err_code cancelled;
	bool is_waiting;
	bool is_uncancellable; /* a cancellation does not end this wait */
	bool is_woken, is_ready, is_over;
};

/* A pooled stack: at the base of its mapping's usable part. */
struct free_stack {
	SLIST_ENTRY(free_stack) entry;
};

static _Thread_local struct fiber_thread {
	struct flow loop_flow;
	struct fiber *running;
	LIST_HEAD(, fiber) fibers; /* all that have not ended */
	STAILQ_HEAD(, fiber) ready;
	SLIST_HEAD(, free_stack) pool;
	size_t pooled, stacks, count;
	struct fiber_thread *next; /* in fiber_threads */
} thread;

/* Every thread that has fibers, for debuggers (tests/lib/system/fibers_gdb.py). */
static struct fiber_thread *fiber_threads;
static pthread_mutex_t fiber_threads_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t page_bytes(void)
{
	static _Atomic size_t cached;
	if (!cached)
		cached = (size_t)sysconf(_SC_PAGESIZE);
	return cached;
}

/* A stack from the pool, or a new one; NULL: it cannot be mapped. */
static char *stack_take(void)
{
	size_t page = page_bytes();
	struct free_stack *pooled = SLIST_FIRST(&thread.pool);
	if (pooled) {
		SLIST_REMOVE_HEAD(&thread.pool, entry);
		thread.pooled--;
		return (char *)pooled - page;
	}
	char *mapping = mmap(NULL, page + STACK_BYTES, PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapping == MAP_FAILED)
		return NULL;
	if (mprotect(mapping, page, PROT_NONE) != 0) {
		munmap(mapping, page + STACK_BYTES);
		return NULL;
	}
	thread.stacks++;
	return mapping;
}

static void stack_give(char *mapping)
{
	char *base = mapping + page_bytes();
#ifdef WITH_ASAN
	__asan_unpoison_memory_region(base, STACK_BYTES);
#endif
	if (thread.pooled >= STACKS_POOLED_MAX) {
		munmap(mapping, page_bytes() + STACK_BYTES);
		thread.stacks--;
		return;
	}
	SLIST_INSERT_HEAD(&thread.pool, (struct free_stack *)base, entry);
	thread.pooled++;
}

/* Always inlined: a call would enter its frame on one stack and leave it on another. */
#define INLINED static inline __attribute__((always_inline))

/* Call before leaving `from`; `is_final`: control never returns to it. */
INLINED void sanitizer_leave(struct flow *from, const struct flow *to, bool is_final)
{
#ifdef WITH_ASAN
	__sanitizer_start_switch_fiber(is_final ? NULL : &from->asan_fake_stack, to->stack_bottom,
	                               to->stack_bytes);
#endif
#ifdef WITH_TSAN
	__tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
	(void)from, (void)to, (void)is_final;
}

/* Call just after arriving in `here`; learns the bounds of the stack that was left. */
INLINED void sanitizer_arrive(const struct flow *here, struct flow *left)
{
#ifdef WITH_ASAN
	__sanitizer_finish_switch_fiber(here->asan_fake_stack, &left->stack_bottom,
	                                &left->stack_bytes);
#endif
	(void)here, (void)left;
}

/* Switch to the flow that resumed this fiber. */
static void switch_back(struct fiber *fiber, bool is_final)
{
	struct flow *to = fiber->resumer;
	thread.running = fiber->resumer_fiber;
	sanitizer_leave(&fiber->flow, to, is_final);
	struct transfer back = jump_fcontext(to->context, &fiber->flow);
	struct flow *left = back.data;
	left->context = back.from;
	sanitizer_arrive(&fiber->flow, left);
}

static void fiber_entry(struct transfer arrival)
{
	struct flow *left = arrival.data;
	left->context = arrival.from;
	struct fiber *fiber = thread.running;
	sanitizer_arrive(&fiber->flow, left);
	fiber->fn(fiber->arg);
	fiber_exit();
}

static void fiber_finish(struct fiber *fiber)
{
	fiber_fn *done = fiber->done;
	void *arg = fiber->arg;
#ifdef WITH_TSAN
	__tsan_destroy_fiber(fiber->flow.tsan_fiber);
#endif
	LIST_REMOVE(fiber, entry);
	thread.count--;
	stack_give(fiber->mapping);
	if (done)
		done(arg);
}

static void fiber_resume(struct fiber *fiber)
{
	struct flow *here = thread.running ? &thread.running->flow : &thread.loop_flow;
	fiber->resumer = here;
	fiber->resumer_fiber = thread.running;
	thread.running = fiber;
#ifdef WITH_TSAN
	if (!here->tsan_fiber)
		here->tsan_fiber = __tsan_get_current_fiber();
#endif
	sanitizer_leave(here, &fiber->flow, false);
	struct transfer back = jump_fcontext(fiber->flow.context, here);
	struct flow *left = back.data;
	left->context = back.from;
	sanitizer_arrive(here, left);
	if (fiber->is_over)
		fiber_finish(fiber);
}

static void thread_register(void)
{
	STAILQ_INIT(&thread.ready);
	pthread_mutex_lock(&fiber_threads_lock);
	thread.next = fiber_threads;
	fiber_threads = &thread;
	pthread_mutex_unlock(&fiber_threads_lock);
}

static void thread_unregister(void)
{
	pthread_mutex_lock(&fiber_threads_lock);
	struct fiber_thread **link = &fiber_threads;
	while (*link && *link != &thread)
		link = &(*link)->next;
	if (*link)
		*link = thread.next;
	pthread_mutex_unlock(&fiber_threads_lock);
	thread.ready.stqh_last = NULL; /* the next fiber registers the thread again */
}

bool fiber_start(fiber_fn *fn, void *arg, fiber_fn *done)
{
	if (!thread.ready.stqh_last)
		thread_register();
	char *mapping = stack_take();
	if (!mapping)
		return false;
	char *bottom = mapping + page_bytes();
	size_t usable = (STACK_BYTES - sizeof(struct fiber)) & ~(size_t)63;
	struct fiber *fiber = (struct fiber *)(bottom + usable);
	*fiber = (struct fiber){.fn = fn, .done = done, .arg = arg, .mapping = mapping};
	fiber->flow.stack_bottom = bottom;
	fiber->flow.stack_bytes = usable;
	fiber->flow.context = make_fcontext(bottom + usable, usable, fiber_entry);
#ifdef WITH_TSAN
	fiber->flow.tsan_fiber = __tsan_create_fiber(0);
#endif
	LIST_INSERT_HEAD(&thread.fibers, fiber, entry);
	thread.count++;
	fiber_resume(fiber);
	return true;
}

struct fiber *fiber_self(void)
{
	return thread.running;
}

void fiber_set_label(const char *label)
{
	require(thread.running);
	thread.running->label = label;
}

const char *fiber_label(void)
{
	return thread.running ? thread.running->label : NULL;
}

void fiber_exit(void)
{
	struct fiber *fiber = thread.running;
	require(fiber);
	fiber->is_over = true;
	switch_back(fiber, true);
	require(!"a fiber that is over was resumed");
	__builtin_unreachable();
}

/* Suspend unless the fiber was woken already. */
static void wait_for_wake(struct fiber *fiber)
{
	if (!fiber->is_woken) {
		fiber->is_waiting = true;
		switch_back(fiber, false);
		fiber->is_waiting = false;
	}
	fiber->is_woken = false;
}

enum err_code fiber_wait(void)
{
	struct fiber *fiber = thread.running;
	require(fiber);
	if (fiber->cancelled)
		return fiber->cancelled;
	wait_for_wake(fiber);
	return fiber->cancelled;
}

void fiber_wait_uncancelled(void)
{
	struct fiber *fiber = thread.running;
	require(fiber);
	fiber->is_uncancellable = true;
	wait_for_wake(fiber);
	fiber->is_uncancellable = false;
}

static void make_ready(struct fiber *fiber)
{
	if (fiber->is_ready)
		return;
	fiber->is_ready = true;
	STAILQ_INSERT_TAIL(&thread.ready, fiber, ready);
}

void fiber_wake(struct fiber *fiber)
{
	fiber->is_woken = true;
	if (fiber->is_waiting)
		make_ready(fiber);
}

void fiber_cancel(struct fiber *fiber, enum err_code reason)
{
	require(reason != ERR_NONE);
	if (fiber->cancelled || fiber->is_over)
		return;
	fiber->cancelled = reason;
	if (fiber->is_waiting && !fiber->is_uncancellable)
		make_ready(fiber);
}

enum err_code fiber_cancelled(const struct fiber *fiber)
{
	return fiber->cancelled;
}

void fiber_run_ready(void)
{
	require(!thread.running);
	struct fiber *fiber;
	while ((fiber = STAILQ_FIRST(&thread.ready)) != NULL) {
		STAILQ_REMOVE_HEAD(&thread.ready, ready);
		fiber->is_ready = false;
		fiber_resume(fiber);
	}
}

size_t fiber_count(void)
{
	return thread.count;
}

size_t fiber_stacks(void)
{
	return thread.stacks;
}

void fiber_thread_free(void)
{
	require(thread.count == 0);
	struct free_stack *stack;
	while ((stack = SLIST_FIRST(&thread.pool)) != NULL) {
		SLIST_REMOVE_HEAD(&thread.pool, entry);
		munmap((char *)stack - page_bytes(), page_bytes() + STACK_BYTES);
	}
	thread.pooled = thread.stacks = 0;
	thread_unregister();
}

/* The two handles of a loop that run the ready fibers, in one allocation. */
struct fiber_hooks {
	uv_prepare_t prepare;
	uv_check_t check;
	int open;
};

static _Thread_local struct fiber_hooks *thread_hooks;

static void before_poll(uv_prepare_t *handle)
{
	(void)handle;
	fiber_run_ready();
}

static void after_poll(uv_check_t *handle)
{
	(void)handle;
	fiber_run_ready();
}

void fiber_loop_attach(uv_loop_t *loop)
{
	require(!thread_hooks);
	struct fiber_hooks *hooks = calloc(1, sizeof(*hooks));
	require(hooks);
	thread_hooks = hooks;
	hooks->open = 2;
	hooks->prepare.data = hooks->check.data = hooks;
	uv_prepare_init(loop, &hooks->prepare);
	uv_check_init(loop, &hooks->check);
	uv_prepare_start(&hooks->prepare, before_poll);
	uv_check_start(&hooks->check, after_poll);
	uv_unref((uv_handle_t *)&hooks->prepare);
	uv_unref((uv_handle_t *)&hooks->check);
}

static void hook_closed(uv_handle_t *handle)
{
	struct fiber_hooks *hooks = handle->data;
	if (--hooks->open == 0)
		free(hooks);
}

void fiber_loop_detach(uv_loop_t *loop)
{
	(void)loop;
	struct fiber_hooks *hooks = thread_hooks;
	require(hooks);
	thread_hooks = NULL;
	uv_close((uv_handle_t *)&hooks->prepare, hook_closed);
	uv_close((uv_handle_t *)&hooks->check, hook_closed);
}
