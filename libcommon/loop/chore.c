#include "loop/chore.h"

#include "base/backoff.h"
#include "base/defines.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "loop/worker.h"

#include <stdlib.h>

#define RETRY_MIN_MS 100
#define RETRY_MAX_MS 5000

struct chore {
	struct worker *worker;
	const char *name;
	request_fn *run;
	void *user;
	uint64_t every_ms, timeout_ms;
	uv_timer_t timer; /* until the next pass */
	struct request *pass;
	unsigned failures;  /* in a row */
	uint64_t wanted_ms; /* asked for during the pass: so long after it; CHORE_WHEN_WOKEN: not */
	bool is_stopped;
	uint64_t due_ms; /* on the monotonic clock, when the timer runs */
};

struct chore *chore_new(struct worker *worker, const char *name, request_fn *run, void *user,
                        uint64_t every_ms, uint64_t timeout_ms)
{
	struct chore *chore = calloc(1, sizeof(*chore));
	require(chore);
	chore->worker = worker;
	chore->name = name;
	chore->run = run;
	chore->user = user;
	chore->every_ms = every_ms;
	chore->timeout_ms = timeout_ms;
	chore->wanted_ms = CHORE_WHEN_WOKEN;
	uv_timer_init(&worker->loop, &chore->timer);
	chore->timer.data = chore;
	return chore;
}

void *chore_user(const struct request *rq)
{
	const struct chore *chore = rq->user;
	return chore->user;
}

static void pass_run(struct request *rq)
{
	struct chore *chore = rq->user;
	chore->pass = rq;
	chore->run(rq);
}

static void on_timer(uv_timer_t *timer);

/* Not 0: passes that do not suspend would follow one another within one turn of the loop. */
static void timer_set(struct chore *chore, uint64_t ms)
{
	ms = MAX_OF(ms, 1);
	chore->due_ms = time_monotonic_ms() + ms;
	uv_timer_start(&chore->timer, on_timer, ms, 0);
}

static void note_failure(const struct chore *chore, const struct request *rq)
{
	if (chore->failures > 1)
		return;
	log_warn(LOG_GROUP_JOBS, "chore failed, trying again", f_text("chore", chore->name),
	         f_text("error", err_info(rq->problem.code)->slug),
	         f_text("detail", rq->problem.detail));
}

/* Until the next pass, after one that went well. */
static uint64_t pause_ms(const struct chore *chore)
{
	if (chore->every_ms == 0 || chore->every_ms == CHORE_WHEN_WOKEN)
		return chore->every_ms;
	return spread_ms(chore->every_ms);
}

static void pass_over(struct request *rq)
{
	struct chore *chore = rq->user;
	uint64_t next_ms = MIN_OF(chore->wanted_ms, pause_ms(chore));
	chore->pass = NULL;
	chore->wanted_ms = CHORE_WHEN_WOKEN;
	if (chore->is_stopped)
		return;
	if (rq->problem.code != ERR_NONE) {
		chore->failures++;
		note_failure(chore, rq);
		next_ms = backoff_ms(chore->failures, RETRY_MIN_MS, RETRY_MAX_MS);
	} else {
		chore->failures = 0;
	}
	if (next_ms != CHORE_WHEN_WOKEN)
		timer_set(chore, next_ms);
}

static void on_timer(uv_timer_t *timer)
{
	struct chore *chore = timer->data;
	request_spawn(chore->worker, chore->name, chore->timeout_ms, pass_run, pass_over, chore);
}

void chore_wake(struct chore *chore)
{
	chore_wake_in(chore, 0);
}

void chore_wake_in(struct chore *chore, uint64_t ms)
{
	if (chore->is_stopped)
		return;
	if (chore->pass)
		chore->wanted_ms = MIN_OF(chore->wanted_ms, ms);
	else if (chore->failures > 0) /* it comes when its backoff is over */
		return;
	else if (!uv_is_active((uv_handle_t *)&chore->timer) ||
	         chore->due_ms > time_monotonic_ms() + ms)
		timer_set(chore, ms);
}

void chore_stop(struct chore *chore)
{
	if (!chore)
		return;
	chore->is_stopped = true;
	uv_timer_stop(&chore->timer);
	if (chore->pass && chore->pass->fiber)
		fiber_cancel(chore->pass->fiber, ERR_UNAVAILABLE);
}

bool chore_is_idle(const struct chore *chore)
{
	return !chore->pass;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void chore_free(struct chore *chore)
{
	if (!chore)
		return;
	require(chore->is_stopped && !chore->pass);
	uv_close((uv_handle_t *)&chore->timer, on_closed);
}
