#include "task/backlog.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "event.sql.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "outbox.sql.h"
#include "pg/pg.h"
#include "task/dead.h"
#include "task/event_consumer.h"

#include <stdlib.h>

#define LAG_LOGGED_S 30    /* the relay is late when a row has waited for this time */
#define LAG_PAUSE_MS 60000 /* between two log lines about it */

METRIC_GAUGE(unsent_metric, "expops_outbox_unsent", "Rows of the outbox that wait for the relay.");
METRIC_GAUGE(oldest_metric, "expops_outbox_oldest_seconds",
             "How long the oldest unsent row of the outbox has waited.");
METRIC_GAUGE(lag_metric, "expops_events_lag_seconds",
             "How long the oldest event of a stream that the service has not read yet has waited.",
             "stream");
METRIC_GAUGE(dead_metric, "expops_dead_letters",
             "What the service has given up: tasks, up to 10,000, and events.", "type");

static void measure_outbox(struct request *rq, struct tasks *tasks)
{
	uint64_t now_ms = time_monotonic_ms();
	const struct pg_rows *rows = pg_query(rq, OUTBOX_LAG_SQL);
	double oldest_s = pg_value_float(rows, 0, 1);
	metric_set(&unsent_metric, NULL, NULL, pg_value_float(rows, 0, 0));
	metric_set(&oldest_metric, NULL, NULL, oldest_s);
	if (oldest_s < LAG_LOGGED_S || now_ms < tasks->lag_log_ms)
		return;
	tasks->lag_log_ms = now_ms + LAG_PAUSE_MS;
	log_warn(LOG_GROUP_JOBS, "events wait to be sent to Redis",
	         f_int("rows", pg_value_int(rows, 0, 0)), f_float("oldest_seconds", oldest_s));
}

/* Age of the first entry behind the position, by the time in its id; 0: there is none. */
static double stream_lag_s(struct request *rq, const char *stream)
{
	const struct pg_rows *rows = pg_query(rq, EVENT_POSITION_GET_SQL, pg_text(stream));
	const char *position = pg_value(rows, 0, 0);
	const char *const argv[] = {
		"XRANGE", stream,  position ? arena_printf(rq->arena, "(%s", position) : "-",
		"+",      "COUNT", "1"};
	struct stream_entries unread =
		stream_entries_of(rq, stream_command(rq, argv, ARRAY_LEN(argv)));
	if (unread.count == 0)
		return 0;
	int64_t waited_ms = time_now_ms() - strtoll(unread.items[0].id, NULL, 10);
	return (double)MAX_OF(waited_ms, 0) / 1000;
}

static void measure_streams(struct request *rq, const struct tasks *tasks)
{
	const struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry)
		metric_set(&lag_metric, consumer->stream, NULL, stream_lag_s(rq, consumer->stream));
}

static void measure_dead(struct request *rq, const struct tasks *tasks)
{
	metric_set(&dead_metric, "event", NULL,
	           (double)dead_events_count(rq, tasks->settings.service));
	metric_set(&dead_metric, "task", NULL, (double)dead_tasks_count(rq));
}

void backlog_measure(struct request *rq, struct tasks *tasks)
{
	uint64_t now_ms = time_monotonic_ms();
	if (now_ms < tasks->lag_due_ms)
		return;
	tasks->lag_due_ms = now_ms + tasks_timing.sweep;
	measure_outbox(rq, tasks);
	if (!redis_is_ready(rq->worker->redis))
		return;
	measure_streams(rq, tasks);
	measure_dead(rq, tasks);
}
