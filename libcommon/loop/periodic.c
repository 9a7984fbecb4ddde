#include "loop/periodic.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "pacing/backoff.h"

#include <stdlib.h>

#define RETRY_MIN_MS 100
#define RETRY_MAX_MS 5000

struct periodic {
	struct worker *worker;
	const char *name;
	request_fn *run;
	void *user;
	uint64_t every_ms, timeout_ms;
	uv_timer_t timer;     /* until the next pass */
	struct request *pass; /* running; NULL: none */
	unsigned failures;    /* in a row */
	uint64_t wake_in_ms;  /* of periodic_wake_in() in the pass; PERIODIC_WHEN_WOKEN: none */
	bool is_stopped;
	uint64_t due_ms; /* when the timer fires, on the monotonic clock */
};

struct periodic *periodic_new(struct worker *worker, const char *name, request_fn *run, void *user,
                              uint64_t every_ms, uint64_t timeout_ms)
{
	struct periodic *periodic = calloc(1, sizeof(*periodic));
	require(periodic);
	periodic->worker = worker;
	periodic->name = name;
	periodic->run = run;
	periodic->user = user;
	periodic->every_ms = every_ms;
	periodic->timeout_ms = timeout_ms;
	periodic->wake_in_ms = PERIODIC_WHEN_WOKEN;
	uv_timer_init(&worker->loop, &periodic->timer);
	periodic->timer.data = periodic;
	return periodic;
}

void *periodic_user(const struct request *rq)
{
	const struct periodic *periodic = rq->user;
	return periodic->user;
}

static void pass_run(struct request *rq)
{
	struct periodic *periodic = rq->user;
	periodic->pass = rq;
	periodic->run(rq);
}

static void on_timer(uv_timer_t *timer);

/* At least 1 ms: with 0, passes that do not suspend would starve the rest of the loop. */
static void timer_set(struct periodic *periodic, uint64_t ms)
{
	ms = MAX_OF(ms, 1);
	periodic->due_ms = time_monotonic_ms() + ms;
	uv_timer_start(&periodic->timer, on_timer, ms, 0);
}

static void log_first_failure(const struct periodic *periodic, const struct request *rq)
{
	if (periodic->failures > 1)
		return;
	log_warn("periodic work failed, trying again", f_text("name", periodic->name),
	         f_text("error", err_info(rq->problem.code)->slug),
	         f_text("detail", rq->problem.detail));
}

/* The pause after a pass that succeeded. */
static uint64_t pause_ms(const struct periodic *periodic)
{
	if (periodic->every_ms == 0 || periodic->every_ms == PERIODIC_WHEN_WOKEN)
		return periodic->every_ms;
	return jitter_ms(periodic->every_ms);
}

static void pass_over(struct request *rq)
{
	struct periodic *periodic = rq->user;
	uint64_t next_ms = MIN_OF(periodic->wake_in_ms, pause_ms(periodic));
	periodic->pass = NULL;
	periodic->wake_in_ms = PERIODIC_WHEN_WOKEN;
	if (periodic->is_stopped)
		return;
	if (rq->problem.code != ERR_NONE) {
		periodic->failures++;
		log_first_failure(periodic, rq);
		next_ms = backoff_ms(periodic->failures, RETRY_MIN_MS, RETRY_MAX_MS);
	} else {
		periodic->failures = 0;
	}
	if (next_ms != PERIODIC_WHEN_WOKEN)
		timer_set(periodic, next_ms);
}

static void on_timer(uv_timer_t *timer)
{
	struct periodic *periodic = timer->data;
	request_spawn(periodic->worker, periodic->name, periodic->timeout_ms, pass_run, pass_over,
	              periodic);
}

void periodic_run(struct periodic *periodic)
{
	if (periodic->pass || periodic->failures > 0) {
		periodic_wake(periodic);
	} else if (!periodic->is_stopped) {
		uv_timer_stop(&periodic->timer);
		on_timer(&periodic->timer);
	}
}

void periodic_wake(struct periodic *periodic)
{
	periodic_wake_in(periodic, 0);
}

void periodic_wake_in(struct periodic *periodic, uint64_t ms)
{
	if (periodic->is_stopped)
		return;
	if (periodic->pass)
		periodic->wake_in_ms = MIN_OF(periodic->wake_in_ms, ms);
	else if (periodic->failures > 0) /* the backoff decides */
		return;
	else if (!uv_is_active((uv_handle_t *)&periodic->timer) ||
	         periodic->due_ms > time_monotonic_ms() + ms)
		timer_set(periodic, ms);
}

void periodic_stop(struct periodic *periodic)
{
	if (!periodic)
		return;
	periodic->is_stopped = true;
	uv_timer_stop(&periodic->timer);
	if (periodic->pass)
		request_cancel(periodic->pass, ERR_UNAVAILABLE);
}

bool periodic_is_idle(const struct periodic *periodic)
{
	return !periodic->pass;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void periodic_free(struct periodic *periodic)
{
	if (!periodic)
		return;
	require(periodic->is_stopped && !periodic->pass);
	uv_close((uv_handle_t *)&periodic->timer, on_closed);
}
