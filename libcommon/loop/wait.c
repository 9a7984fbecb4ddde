#include "loop/wait.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "loop/request_list.h"
#include "loop/worker.h"

#include <stdlib.h>
#include <sys/queue.h>

/* A separate allocation: libuv closes the timer after the fiber has continued. */
struct sleeper {
	uv_timer_t timer;
	struct fiber *fiber;
	bool is_over;
};

static void on_time(uv_timer_t *timer)
{
	struct sleeper *sleeper = timer->data;
	sleeper->is_over = true;
	fiber_wake(sleeper->fiber);
}

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void fiber_sleep(struct request *rq, uint64_t ms)
{
	if (ms > 0)
		request_require_no_transaction(rq);
	struct sleeper *sleeper = calloc(1, sizeof(*sleeper));
	enum err_code reason = ERR_NONE;
	require(sleeper);
	sleeper->fiber = rq->fiber;
	uv_timer_init(&rq->worker->loop, &sleeper->timer);
	sleeper->timer.data = sleeper;
	uv_timer_start(&sleeper->timer, on_time, ms, 0);
	while (!sleeper->is_over && !reason)
		reason = fiber_wait();
	uv_close((uv_handle_t *)&sleeper->timer, on_timer_closed);
	if (reason)
		raise_error(rq, reason, "the request was cancelled while it waited");
}

/* A separate allocation: libuv closes the handle after the fiber has continued. */
struct offload {
	struct computation computation;
	void (*work)(void *arg);
	void *arg;
	uv_async_t wake; /* sent by the other thread when it is done */
	struct fiber *fiber;
	_Atomic bool has_run; /* orders what the two threads do with `arg` */
	bool is_done;         /* `wake` was received: the other thread no longer uses this */
};

static void offload_run(struct computation *computation)
{
	struct offload *offload = CONTAINER_OF(computation, struct offload, computation);
	offload->work(offload->arg);
}

static void offload_done(struct computation *computation)
{
	struct offload *offload = CONTAINER_OF(computation, struct offload, computation);
	offload->has_run = true;
	uv_async_send(&offload->wake);
}

static void on_offload_done(uv_async_t *wake)
{
	struct offload *offload = wake->data;
	offload->is_done = offload->has_run;
	fiber_wake(offload->fiber);
}

static void on_offload_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static struct offload *offload_new(struct request *rq, void (*work)(void *arg), void *arg)
{
	struct offload *offload = calloc(1, sizeof(*offload));
	require(offload);
	*offload = (struct offload){
		.computation = {.run = offload_run, .done = offload_done},
		.work = work,
		.arg = arg,
		.fiber = rq->fiber,
	};
	require(uv_async_init(&rq->worker->loop, &offload->wake, on_offload_done) == 0);
	offload->wake.data = offload;
	return offload;
}

/* Until it is done, or was withdrawn because the fiber is cancelled. */
static void offload_wait(struct offload *offload)
{
	enum err_code reason = ERR_NONE;
	while (!offload->is_done && !reason) {
		reason = fiber_wait();
		if (reason && thread_pool_withdraw(&offload->computation))
			return;
	}
	while (!offload->is_done)
		fiber_wait_uncancelled();
}

void fiber_offload(struct request *rq, enum lane lane, void (*work)(void *arg), void *arg)
{
	request_require_no_transaction(rq);
	struct offload *offload = offload_new(rq, work, arg);
	bool is_added = thread_pool_add(lane, &offload->computation, &rq->caller.account);
	if (is_added)
		offload_wait(offload);
	uv_close((uv_handle_t *)&offload->wake, on_offload_closed);
	if (!is_added)
		raise_error(rq, ERR_UNAVAILABLE, "no thread can be started");
	enum err_code reason = fiber_cancelled(rq->fiber);
	if (reason)
		raise_error(rq, reason, "the request was cancelled during a computation");
}

void fiber_offload_text(struct request *rq, size_t bytes, void (*work)(void *arg), void *arg)
{
	if (bytes <= OFFLOAD_TEXT_BYTES || rq->is_in_transaction)
		work(arg);
	else
		fiber_offload(rq, LANE_SHORT, work, arg);
}

static void free_arena(void *arena)
{
	arena_free(arena);
}

struct arena *offload_arena(struct request *rq)
{
	struct arena *arena = arena_new();
	arena_on_free(rq->arena, free_arena, arena);
	return arena;
}

/* The members of a request, in its arena from the first fiber_spawn() on. */
struct group {
	struct request *parent;
	struct arena *arena;         /* the parent's at that time: it may have begun a page since */
	LIST_HEAD(, member) members; /* that have not ended */
	struct fiber *waiter;        /* in fiber_join(); NULL: none */
	enum err_code cancelled;     /* reason for all members; ERR_NONE: not cancelled */
	struct problem problem;      /* the first failure's */
};

/* In its own arena. */
struct member {
	struct request request;
	struct group *group;
	LIST_ENTRY(member) entry;
};

static void group_cancel(struct group *group, enum err_code reason)
{
	struct member *member;
	if (group->cancelled)
		return;
	group->cancelled = reason;
	LIST_FOREACH (member, &group->members, entry)
		request_cancel(&member->request, reason);
}

/* The parent's fiber has ended before it joined its members. At the end of a page the fiber still
 * runs, and the group's memory ends with the page: no member may be left. */
static void group_release(struct request *rq, void *held)
{
	struct group *group = held;
	enum err_code code = rq->problem.code;
	bool is_page_end = fiber_self() && fiber_self() == rq->fiber;
	require(!is_page_end || LIST_EMPTY(&group->members));
	group_cancel(group, code ? code : ERR_UNAVAILABLE);
}

static struct group *group_of(struct request *rq)
{
	struct group *group = request_held(rq, group_release);
	if (group)
		return group;
	group = arena_new_of(rq->arena, struct group);
	group->parent = rq;
	group->arena = rq->arena;
	request_hold(rq, group_release, group);
	return group;
}

static void member_over(struct request *rq)
{
	struct member *member = CONTAINER_OF(rq, struct member, request);
	struct group *group = member->group;
	LIST_REMOVE(member, entry);
	group->parent->has_effects |= rq->has_effects;
	if (rq->problem.code && !group->problem.code) {
		problem_copy(group->arena, &group->problem, &rq->problem);
		group_cancel(group, rq->problem.code);
	}
	if (group->waiter && LIST_EMPTY(&group->members))
		fiber_wake(group->waiter);
	arena_free(rq->arena);
	request_unpin(group->parent);
}

void fiber_spawn_within(struct request *rq, uint64_t timeout_ms, request_fn *fn, void *user)
{
	struct arena *arena = arena_new();
	struct member *member = arena_new_of(arena, struct member);
	member->group = group_of(rq);
	if (member->group->cancelled) { /* a member has failed: start no other */
		arena_free(arena);
		return;
	}
	member->request = (struct request){
		.worker = rq->worker,
		.arena = arena,
		.id = arena_strdup(arena, rq->id),
		.traceparent = rq->traceparent,
		.caller = rq->caller,
		.deadline_ms = time_monotonic_ms() + MIN_OF(timeout_ms, request_left_ms(rq)),
		.user = user,
	};
	LIST_INSERT_HEAD(&member->group->members, member, entry);
	request_pin(rq);
	request_run(&member->request, fn, member_over);
}

void fiber_spawn(struct request *rq, request_fn *fn, void *user)
{
	fiber_spawn_within(rq, UINT64_MAX, fn, user);
}

enum err_code fiber_join_try(struct request *rq, struct problem *ret_problem)
{
	request_require_no_transaction(rq);
	struct group *group = group_of(rq);
	group->waiter = rq->fiber;
	while (!LIST_EMPTY(&group->members)) {
		if (group->cancelled) {
			fiber_wait_uncancelled();
			continue;
		}
		enum err_code reason = fiber_wait();
		if (reason)
			group_cancel(group, reason);
	}
	request_unhold(rq, group_release);
	enum err_code reason = fiber_cancelled(rq->fiber);
	if (reason)
		raise_error(rq, reason, "the request was cancelled while it waited");
	if (ret_problem)
		*ret_problem = group->problem;
	return group->problem.code;
}

void fiber_join(struct request *rq)
{
	struct problem problem;
	if (fiber_join_try(rq, &problem))
		raise_problem(rq, &problem);
}
