#include "notify/dispatcher.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "lane.sql.h"
#include "loop/periodic.h"
#include "notify/lane.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "service/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define LOOK_MS        1000 /* for what other processes have written */
#define START_MS       100  /* until the schema is migrated */
#define PASS_MS        30000
#define MEASURE_MS     15000
#define DRAIN_CHECK_MS 20

METRIC_GAUGE(due_seconds, "expops_notify_due_seconds",
             "How long the attempt that is due for longest has waited for a process.");
METRIC_GAUGE(endpoints_metric, "expops_notify_endpoints",
             "Active endpoints: whose last attempt failed, and the others.", "state");
METRIC_GAUGE(waiting_metric, "expops_notify_waiting", "Deliveries that wait.");

enum pool { POOL_QUICK, POOL_SLOW, POOL_MAIL, POOL_COUNT };

static const struct {
	int count, of_an_account;
} PLACES[] = {
	[POOL_QUICK] = {DISPATCHER_PLACES, DISPATCHER_ACCOUNT_PLACES},
	[POOL_SLOW] = {DISPATCHER_PLACES, DISPATCHER_ACCOUNT_PLACES},
	[POOL_MAIL] = {DISPATCHER_MAIL_PLACES, DISPATCHER_ACCOUNT_MAIL_PLACES},
};

struct dispatcher {
	struct worker *worker;
	struct periodic *looker;
	LIST_HEAD(, lane_place) used[POOL_COUNT]; /* places */
	int free[POOL_COUNT];
	bool is_stopping;
	uint64_t measured_ms;
	/* Drain. */
	uv_timer_t timer;
	uint64_t drain_until_ms;
	void (*drained)(void *context);
	void *drained_context;
};

struct lane_place {
	struct lane lane;
	struct dispatcher *dispatcher;
	enum pool pool;
	char account[UUID_TEXT_LEN + 1];
	LIST_ENTRY(lane_place) entry;
};

static void on_lane_done(struct request *rq)
{
	struct lane_place *place = rq->user;
	struct dispatcher *dispatcher = place->dispatcher;
	dispatcher->free[place->pool]++;
	LIST_REMOVE(place, entry);
	free(place);
	periodic_wake(dispatcher->looker);
}

static void start_lane(struct dispatcher *dispatcher, enum pool pool, const struct pg_rows *rows,
                       int row)
{
	struct lane_place *place = calloc(1, sizeof(*place));
	require(place);
	place->dispatcher = dispatcher;
	place->pool = pool;
	place->lane.is_stopping = &dispatcher->is_stopping;
	memcpy(place->account, pg_get(rows, row, "account_id"), sizeof(place->account));
	memcpy(place->lane.endpoint, pg_get(rows, row, "endpoint_id"),
	       sizeof(place->lane.endpoint));
	place->lane.is_retry = pg_get_bool(rows, row, "is_retry");
	place->lane.claim = pg_get_int(rows, row, "claim");
	dispatcher->free[pool]--;
	LIST_INSERT_HEAD(&dispatcher->used[pool], place, entry);
	request_spawn(dispatcher->worker, place->lane.endpoint, LANE_TIMEOUT_MS, lane_run,
	              on_lane_done, place);
}

static void measure(struct request *rq, struct dispatcher *dispatcher)
{
	if (time_monotonic_ms() < dispatcher->measured_ms + MEASURE_MS)
		return;
	dispatcher->measured_ms = time_monotonic_ms();
	const struct pg_rows *rows = pg_query(rq, LANE_MEASURE_SQL);
	metric_set(&due_seconds, NULL, NULL, pg_get_float(rows, 0, "due_s"));
	metric_set(&endpoints_metric, "failing", NULL, pg_get_float(rows, 0, "failing"));
	metric_set(&endpoints_metric, "working", NULL, pg_get_float(rows, 0, "working"));
	metric_set(&waiting_metric, NULL, NULL, pg_get_float(rows, 0, "waiting"));
}

/* The accounts of the places in use, an array of Postgres. */
static const char *holding(struct arena *arena, const struct dispatcher *dispatcher, enum pool pool)
{
	struct buf text = {.arena = arena};
	const struct lane_place *place;
	buf_puts(&text, "{");
	LIST_FOREACH (place, &dispatcher->used[pool], entry)
		buf_printf(&text, "%s%s", text.length > 1 ? "," : "", place->account);
	buf_puts(&text, "}");
	return text.data;
}

static struct pg_rows *claim(struct request *rq, const struct dispatcher *dispatcher,
                             enum pool pool)
{
	struct pg_param most = pg_int(dispatcher->free[pool]);
	struct pg_param each = pg_int(PLACES[pool].of_an_account);
	struct pg_param accounts = pg_text(holding(rq->arena, dispatcher, pool));
	if (pool == POOL_MAIL)
		return pg_query(rq, LANE_CLAIM_MAIL_SQL, most, each, accounts,
		                pg_int(LANE_CLAIM_S));
	return pg_query(rq, LANE_CLAIM_SQL, pg_bool(pool == POOL_QUICK), most, each, accounts,
	                pg_int(LANE_CLAIM_S));
}

/* Claim lanes for the free places; then wait for the next that is due. */
static void look(struct request *rq)
{
	struct dispatcher *dispatcher = periodic_user(rq);
	if (!rq->worker->process->is_migrated) {
		periodic_wake_in(dispatcher->looker, START_MS);
		return;
	}
	for (enum pool pool = 0; pool < POOL_COUNT; pool++) {
		const struct pg_rows *claimed = claim(rq, dispatcher, pool);
		for (int row = 0; row < claimed->count; row++)
			start_lane(dispatcher, pool, claimed, row);
	}
	measure(rq, dispatcher);
	const struct pg_rows *wait = pg_query(rq, LANE_WAIT_SQL);
	int64_t wait_ms = pg_value(wait, 0) ? pg_value_int(wait, 0) : LOOK_MS;
	/* What is due now and was not claimed waits for a place, or another process has it. */
	periodic_wake_in(dispatcher->looker,
	                 wait_ms <= 0 ? LOOK_MS : (uint64_t)MIN_OF(wait_ms, LOOK_MS));
}

void dispatcher_start(struct worker *worker)
{
	struct dispatcher *dispatcher = calloc(1, sizeof(*dispatcher));
	require(dispatcher);
	dispatcher->worker = worker;
	for (int i = 0; i < POOL_COUNT; i++) {
		dispatcher->free[i] = PLACES[i].count;
		LIST_INIT(&dispatcher->used[i]);
	}
	uv_timer_init(&worker->loop, &dispatcher->timer);
	dispatcher->timer.data = dispatcher;
	dispatcher->looker = periodic_new(worker, "messages due", look, dispatcher,
	                                  PERIODIC_WHEN_WOKEN, PASS_MS);
	worker->user = dispatcher;
	periodic_wake(dispatcher->looker);
}

void dispatcher_wake(struct worker *worker)
{
	struct dispatcher *dispatcher = worker->user;
	periodic_wake(dispatcher->looker);
}

static bool is_idle(const struct dispatcher *dispatcher)
{
	bool is_idle = true;
	for (int i = 0; i < POOL_COUNT; i++)
		is_idle &= LIST_EMPTY(&dispatcher->used[i]);
	return is_idle;
}

static void on_drain_check(uv_timer_t *timer)
{
	struct dispatcher *dispatcher = timer->data;
	if (!is_idle(dispatcher) && time_monotonic_ms() < dispatcher->drain_until_ms)
		return;
	uv_timer_stop(timer);
	dispatcher->drained(dispatcher->drained_context);
}

void dispatcher_drain(struct worker *worker, uint64_t timeout_ms, void (*drained)(void *context),
                      void *context)
{
	struct dispatcher *dispatcher = worker->user;
	dispatcher->is_stopping = true;
	dispatcher->drain_until_ms = time_monotonic_ms() + timeout_ms;
	dispatcher->drained = drained;
	dispatcher->drained_context = context;
	periodic_stop(dispatcher->looker);
	uv_timer_start(&dispatcher->timer, on_drain_check, 0, DRAIN_CHECK_MS);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void dispatcher_stop(struct worker *worker)
{
	struct dispatcher *dispatcher = worker->user;
	periodic_stop(dispatcher->looker);
	periodic_free(dispatcher->looker);
	uv_close((uv_handle_t *)&dispatcher->timer, on_closed);
}
