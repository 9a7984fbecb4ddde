#include "task/reconcile.h"

#include "base/base.h"
#include "job.sql.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "task/job_run.h"
#include "task/wake.h"

#define REQUEUED_MAX 500
#define COUNTED_MAX  10000 /* queued tasks */

METRIC_GAUGE(queued_metric, "expops_jobs_queued",
             "Tasks of the service that wait for a worker, up to 10,000.");

static void fail_abandoned(struct request *rq, struct tasks *tasks)
{
	const struct pg_rows *rows =
		pg_query(rq, JOB_FAIL_ABANDONED_SQL, pg_text(tasks->own_stream));
	for (int row = 0; row < rows->count; row++)
		log_warn("task failed: its worker stopped during the last attempt",
		         f_text("task", pg_get(rows, row, "id")),
		         f_text("kind", pg_get(rows, row, "kind")));
}

static void requeue(struct request *rq, struct tasks *tasks)
{
	const struct pg_rows *rows = pg_query(rq, JOB_REQUEUE_SQL, pg_int(REQUEUED_MAX));
	if (rows->affected == 0)
		return;
	if (rows->affected >= REQUEUED_MAX)
		periodic_wake(tasks->reconciler);
	wake_entry_add(rq->worker->redis, tasks->jobs_stream, NULL);
}

void reconcile_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	if (tasks->settings.pending_max)
		pg_query(rq, JOB_SET_LIMIT_SQL, pg_int(tasks->settings.pending_max));
	if (tasks->settings.retention_days)
		pg_query(rq, JOB_DELETE_OLD_SQL, pg_int(tasks->settings.retention_days));
	fail_abandoned(rq, tasks);
	requeue(rq, tasks);
	const struct pg_rows *queue = pg_query(rq, JOB_QUEUE_SQL, pg_int(COUNTED_MAX));
	metric_set(&queued_metric, NULL, NULL, (double)pg_get_int(queue, 0, "waiting"));
	if (pg_get(queue, 0, "due_ms") &&
	    pg_get_int(queue, 0, "due_ms") < (int64_t)tasks_timing.reconcile)
		periodic_wake_in(tasks->reconciler,
		                 (uint64_t)MAX_OF(pg_get_int(queue, 0, "due_ms"), 0) + 1);
}
