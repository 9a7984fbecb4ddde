#include "loop/request.h"

#include "base/timefmt.h"
#include "loop/request_run.h"
#include "loop/worker.h"
#include "pg/pg.h"

#include <stdlib.h>

#define SWEEP_MS 100

/* A place in the worker's list of requests under way. */
struct request_link {
	struct request *request;
	struct request_link *next, **at;
	request_fn *run, *done;
	struct page *page; /* innermost; NULL outside of all */
};

/* Lives in its own arena. */
struct page {
	struct arena *before; /* what rq->arena was */
	struct page *outer;
};

struct request_list {
	struct request_link *first;
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

static const char *cancel_detail(enum err_code reason)
{
	return reason == ERR_TIMEOUT ? "the request took longer than it may"
	                             : "the request was given up";
}

void request_wait(struct request *rq)
{
	enum err_code reason = fiber_wait();
	if (reason)
		raise_error(rq, reason, "%s", cancel_detail(reason));
}

uint64_t request_left_ms(const struct request *rq)
{
	uint64_t now_ms = time_monotonic_ms();
	return rq->deadline_ms > now_ms ? rq->deadline_ms - now_ms : 0;
}

/* One timer a worker looks for deadlines that have passed: cheaper than a timer a request, and late
 * by SWEEP_MS at most. */
static void sweep(uv_timer_t *timer)
{
	struct request_list *list = timer->data;
	uint64_t now_ms = time_monotonic_ms();
	for (struct request_link *link = list->first; link; link = link->next)
		if (now_ms >= link->request->deadline_ms && link->request->fiber)
			fiber_cancel(link->request->fiber, ERR_TIMEOUT);
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
	for (struct request_link *link = list->first; link; link = link->next)
		if (link->request->fiber)
			fiber_cancel(link->request->fiber, reason);
}

static void list_insert(struct request_list *list, struct request_link *link)
{
	link->next = list->first;
	link->at = &list->first;
	if (list->first)
		list->first->at = &link->next;
	list->first = link;
	if (list->count++ == 0)
		uv_timer_start(&list->sweep, sweep, SWEEP_MS, SWEEP_MS);
}

static void list_remove(struct request_list *list, struct request_link *link)
{
	*link->at = link->next;
	if (link->next)
		link->next->at = link->at;
	if (--list->count == 0)
		uv_timer_stop(&list->sweep);
}

static void fiber_main(void *arg)
{
	struct request *rq = arg;
	rq->fiber = fiber_self();
	fiber_set_label(rq->id);
	rq->link->run(rq);
}

struct arena *request_page_begin(struct request *rq)
{
	struct arena *before = rq->arena;
	rq->arena = arena_new();
	struct page *page = arena_new_of(rq->arena, struct page);
	*page = (struct page){.before = before, .outer = rq->link->page};
	rq->link->page = page;
	return before;
}

/* Returns the arena of the page that is left. */
static struct arena *page_leave(struct request *rq)
{
	struct arena *arena = rq->arena;
	struct page *page = rq->link->page;
	require(page);
	rq->arena = page->before;
	rq->link->page = page->outer;
	return arena;
}

void request_page_end(struct request *rq)
{
	arena_free(page_leave(rq));
}

static void fiber_over(void *arg)
{
	struct request *rq = arg;
	struct request_link *link = rq->link;
	while (link->page) {
		struct arena *left = page_leave(rq);
		arena_adopt(rq->arena, left);
	}
	rq->fiber = NULL;
	list_remove(rq->worker->requests, link);
	if (rq->transaction)
		pg_abandon(rq);
	link->done(rq);
}

void request_run(struct request *rq, request_fn *run, request_fn *done)
{
	rq->link = arena_new_of(rq->arena, struct request_link);
	*rq->link = (struct request_link){.request = rq, .run = run, .done = done};
	list_insert(rq->worker->requests, rq->link);
	fiber_start(fiber_main, rq, fiber_over);
}

/* A request that owns itself. */
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

struct request *request_spawn(struct worker *worker, const char *id, uint64_t timeout_ms,
                              request_fn *fn, request_fn *done, void *user)
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
	return rq;
}
