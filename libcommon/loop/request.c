#include "loop/request.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "loop/request_list.h"
#include "loop/worker.h"

#include <stdlib.h>
#include <sys/queue.h>

#define SWEEP_MS 100

/* A request in its worker's list. */
struct request_run {
	struct request *request;
	request_fn *run, *done;
	LIST_ENTRY(request_run) entry;
	struct page *page; /* the innermost; NULL: none is open */
	int pins;          /* one for the fiber, one for each request_pin() */
};

/* In the arena that was current when it was registered. */
struct request_hold {
	request_release_fn *release;
	void *held;
	struct request_hold *next; /* older */
};

/* An open page; in its own arena. */
struct page {
	struct arena *before;       /* rq->arena before the page */
	struct request_hold *holds; /* rq->holds before the page */
	struct page *outer;
};

struct request_list {
	LIST_HEAD(, request_run) runs;
	uv_timer_t sweep;
	size_t count;
};

void raise_error(struct request *rq, enum err_code code, const char *detail, ...)
{
	va_list args;
	va_start(args, detail);
	rq->problem.code = code;
	rq->problem.detail = arena_vprintf(rq->arena, detail, args);
	va_end(args);
	fiber_exit();
}

void raise_retry_later(struct request *rq, enum err_code code, unsigned retry_after_s,
                       const char *detail, ...)
{
	va_list args;
	va_start(args, detail);
	const char *text = arena_vprintf(rq->arena, detail, args);
	va_end(args);
	rq->problem.retry_after_s = retry_after_s;
	raise_error(rq, code, "%s", text);
}

void raise_problem(struct request *rq, const struct problem *problem)
{
	rq->problem = *problem;
	fiber_exit();
}

void raise_field(struct request *rq, const char *field, const char *message, ...)
{
	va_list args;
	va_start(args, message);
	char *text = arena_vprintf(rq->arena, message, args);
	va_end(args);
	problem_add_field(rq->arena, &rq->problem, field, "%s", text);
	fiber_exit();
}

void raise_if_faults(struct request *rq)
{
	if (rq->problem.field_count)
		fiber_exit();
}

void request_wait(struct request *rq)
{
	enum err_code reason = fiber_wait();
	if (reason)
		raise_error(rq, reason, "%s",
		            reason == ERR_TIMEOUT ? "the request took longer than it may"
		                                  : "the request was cancelled");
}

struct arena *request_secrets_arena(struct request *rq)
{
	struct arena *arena = arena_new_wiped();
	arena_wipe_on_free(rq->arena);
	arena_adopt(rq->arena, arena);
	return arena;
}

void request_require_no_transaction(const struct request *rq)
{
	require(!rq->is_in_transaction);
}

uint64_t request_left_ms(const struct request *rq)
{
	uint64_t now_ms = time_monotonic_ms();
	return rq->deadline_ms > now_ms ? rq->deadline_ms - now_ms : 0;
}

void request_cancel(struct request *rq, enum err_code reason)
{
	if (rq->fiber)
		fiber_cancel(rq->fiber, reason);
}

/* One timer for all requests of a worker is cheaper than one timer each. */
static void cancel_overdue(uv_timer_t *timer)
{
	struct request_list *list = timer->data;
	uint64_t now_ms = time_monotonic_ms();
	struct request_run *run;
	LIST_FOREACH (run, &list->runs, entry)
		if (now_ms >= run->request->deadline_ms)
			request_cancel(run->request, ERR_TIMEOUT);
}

struct request_list *request_list_new(uv_loop_t *loop)
{
	struct request_list *list = calloc(1, sizeof(*list));
	require(list);
	uv_timer_init(loop, &list->sweep);
	list->sweep.data = list;
	return list;
}

static void list_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void request_list_free(struct request_list *list)
{
	require(!list || list->count == 0);
	if (list)
		uv_close((uv_handle_t *)&list->sweep, list_closed);
}

size_t request_list_count(const struct request_list *list)
{
	return list->count;
}

void request_list_cancel(struct request_list *list, enum err_code reason)
{
	struct request_run *run;
	LIST_FOREACH (run, &list->runs, entry)
		request_cancel(run->request, reason);
}

void request_hold(struct request *rq, request_release_fn *release, void *held)
{
	struct request_hold *hold = arena_new_of(rq->arena, struct request_hold);
	*hold = (struct request_hold){.release = release, .held = held, .next = rq->holds};
	rq->holds = hold;
}

/* The pointer to the newest hold with that `release`; it points to NULL when there is none. */
static struct request_hold *const *hold_find(struct request_hold *const *link,
                                             request_release_fn *release)
{
	while (*link && (*link)->release != release)
		link = &(*link)->next;
	return link;
}

void *request_held(const struct request *rq, request_release_fn *release)
{
	const struct request_hold *hold = *hold_find(&rq->holds, release);
	return hold ? hold->held : NULL;
}

void request_unhold(struct request *rq, request_release_fn *release)
{
	struct request_hold **link = (struct request_hold **)hold_find(&rq->holds, release);
	require(*link);
	*link = (*link)->next;
}

/* Release the holds that are newer than `until`. */
static void release_holds(struct request *rq, const struct request_hold *until)
{
	while (rq->holds != until) {
		struct request_hold *hold = rq->holds;
		rq->holds = hold->next;
		hold->release(rq, hold->held);
	}
}

struct arena *request_page_begin(struct request *rq)
{
	struct arena *before = rq->arena;
	rq->arena = arena_new();
	struct page *page = arena_new_of(rq->arena, struct page);
	*page = (struct page){.before = before, .holds = rq->holds, .outer = rq->run->page};
	rq->run->page = page;
	return before;
}

/* End the innermost page; returns its arena. */
static struct arena *page_leave(struct request *rq)
{
	struct arena *arena = rq->arena;
	struct page *page = rq->run->page;
	require(page);
	release_holds(rq, page->holds);
	rq->arena = page->before;
	rq->run->page = page->outer;
	return arena;
}

void request_page_end(struct request *rq)
{
	arena_free(page_leave(rq));
}

void request_pin(struct request *rq)
{
	rq->run->pins++;
}

void request_unpin(struct request *rq)
{
	struct request_run *run = rq->run;
	struct request_list *list = rq->worker->requests;
	if (--run->pins > 0)
		return;
	LIST_REMOVE(run, entry);
	if (--list->count == 0)
		uv_timer_stop(&list->sweep);
	run->done(rq);
}

static void fiber_main(void *arg)
{
	struct request *rq = arg;
	rq->fiber = fiber_self();
	fiber_set_label(rq->id);
	rq->run->run(rq);
}

static void fiber_over(void *arg)
{
	struct request *rq = arg;
	while (rq->run->page) {
		struct arena *left = page_leave(rq);
		arena_adopt(rq->arena, left);
	}
	rq->fiber = NULL;
	release_holds(rq, NULL);
	request_unpin(rq);
}

void request_run(struct request *rq, request_fn *run, request_fn *done)
{
	struct request_list *list = rq->worker->requests;
	rq->run = arena_new_of(rq->arena, struct request_run);
	*rq->run = (struct request_run){.request = rq, .run = run, .done = done, .pins = 1};
	LIST_INSERT_HEAD(&list->runs, rq->run, entry);
	if (list->count++ == 0)
		uv_timer_start(&list->sweep, cancel_overdue, SWEEP_MS, SWEEP_MS);
	if (fiber_start(fiber_main, rq, fiber_over))
		return;
	rq->problem.code = ERR_UNAVAILABLE;
	rq->problem.detail = "there is no memory for another request; nothing was done, try again";
	fiber_over(rq);
}

/* A request that is freed when it has ended. */
struct spawned {
	struct request request;
	request_fn *done;
};

static void spawned_over(struct request *rq)
{
	struct spawned *spawned = (struct spawned *)rq;
	if (spawned->done)
		spawned->done(rq);
	arena_free(rq->arena);
}

void request_spawn(struct worker *worker, const char *id, uint64_t timeout_ms, request_fn *fn,
                   request_fn *done, void *user)
{
	struct arena *arena = arena_new();
	struct spawned *spawned = arena_new_of(arena, struct spawned);
	struct request *rq = &spawned->request;
	spawned->done = done;
	rq->worker = worker;
	rq->arena = arena;
	rq->id = arena_strdup(arena, id);
	rq->deadline_ms = time_monotonic_ms() + timeout_ms;
	rq->user = user;
	request_run(rq, fn, spawned_over);
}
