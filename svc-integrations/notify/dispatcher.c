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

enum lane_queue { QUEUE_QUICK, QUEUE_SLOW, QUEUE_MAIL, QUEUE_COUNT };

static const struct {
	const char *name; /* endpoint_lane.queue */
	int slots, account_slots;
} QUEUES[] = {
	[QUEUE_QUICK] = {"quick", DISPATCHER_SLOTS, DISPATCHER_ACCOUNT_SLOTS},
	[QUEUE_SLOW] = {"slow", DISPATCHER_SLOTS, DISPATCHER_ACCOUNT_SLOTS},
	[QUEUE_MAIL] = {"mail", DISPATCHER_MAIL_SLOTS, DISPATCHER_ACCOUNT_MAIL_SLOTS},
};

struct dispatcher {
	struct worker *worker;
	struct periodic *looker;
	LIST_HEAD(, lane_slot) used[QUEUE_COUNT];
	int free[QUEUE_COUNT];
	bool is_stopping;
	uint64_t measured_ms;
	/* Drain. */
	uv_timer_t timer;
	uint64_t drain_until_ms;
	void (*drained)(void *context);
	void *drained_context;
};

struct lane_slot {
	struct lane lane;
	struct dispatcher *dispatcher;
	enum lane_queue queue;
	char account[UUID_TEXT_LEN + 1];
	LIST_ENTRY(lane_slot) entry;
};

static void on_lane_done(struct request *rq)
{
	struct lane_slot *slot = rq->user;
	struct dispatcher *dispatcher = slot->dispatcher;
	dispatcher->free[slot->queue]++;
	LIST_REMOVE(slot, entry);
	free(slot);
	periodic_wake(dispatcher->looker);
}

static void start_lane(struct dispatcher *dispatcher, enum lane_queue queue,
                       const struct pg_rows *rows, int row)
{
	struct lane_slot *slot = calloc(1, sizeof(*slot));
	require(slot);
	slot->dispatcher = dispatcher;
	slot->queue = queue;
	slot->lane.is_stopping = &dispatcher->is_stopping;
	memcpy(slot->account, pg_get(rows, row, "account_id"), sizeof(slot->account));
	memcpy(slot->lane.endpoint, pg_get(rows, row, "endpoint_id"), sizeof(slot->lane.endpoint));
	slot->lane.is_retry = pg_get_bool(rows, row, "is_retry");
	slot->lane.claim = pg_get_int(rows, row, "claim");
	dispatcher->free[queue]--;
	LIST_INSERT_HEAD(&dispatcher->used[queue], slot, entry);
	request_spawn(dispatcher->worker, slot->lane.endpoint, LANE_TIMEOUT_MS, lane_run,
	              on_lane_done, slot);
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

/* The accounts of the slots in use, an array of Postgres. */
static const char *holding(struct arena *arena, const struct dispatcher *dispatcher,
                           enum lane_queue queue)
{
	struct buf text = {.arena = arena};
	const struct lane_slot *slot;
	buf_puts(&text, "{");
	LIST_FOREACH (slot, &dispatcher->used[queue], entry)
		buf_printf(&text, "%s%s", text.length > 1 ? "," : "", slot->account);
	buf_puts(&text, "}");
	return text.data;
}

static struct pg_rows *claim(struct request *rq, const struct dispatcher *dispatcher,
                             enum lane_queue queue)
{
	return pg_query(rq, LANE_CLAIM_SQL, pg_text(QUEUES[queue].name),
	                pg_int(dispatcher->free[queue]), pg_int(QUEUES[queue].account_slots),
	                pg_text(holding(rq->arena, dispatcher, queue)), pg_int(LANE_CLAIM_S));
}

/* Claim lanes for the free slots; then wait for the next that is due. */
static void look(struct request *rq)
{
	struct dispatcher *dispatcher = periodic_user(rq);
	if (!rq->worker->process->is_migrated) {
		periodic_wake_in(dispatcher->looker, START_MS);
		return;
	}
	for (enum lane_queue queue = 0; queue < QUEUE_COUNT; queue++) {
		const struct pg_rows *claimed = claim(rq, dispatcher, queue);
		for (int row = 0; row < claimed->count; row++)
			start_lane(dispatcher, queue, claimed, row);
	}
	measure(rq, dispatcher);
	const struct pg_rows *wait = pg_query(rq, LANE_WAIT_SQL);
	int64_t wait_ms = pg_value(wait, 0) ? pg_value_int(wait, 0) : LOOK_MS;
	/* What is due now and was not claimed waits for a slot, or another process has it. */
	periodic_wake_in(dispatcher->looker,
	                 wait_ms <= 0 ? LOOK_MS : (uint64_t)MIN_OF(wait_ms, LOOK_MS));
}

void dispatcher_start(struct worker *worker)
{
	struct dispatcher *dispatcher = calloc(1, sizeof(*dispatcher));
	require(dispatcher);
	dispatcher->worker = worker;
	for (int i = 0; i < QUEUE_COUNT; i++) {
		dispatcher->free[i] = QUEUES[i].slots;
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
	for (int i = 0; i < QUEUE_COUNT; i++)
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
