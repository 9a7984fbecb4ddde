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

/* Columns of JOB_FAIL_ABANDONED_SQL. */
enum { DEAD_ID, DEAD_KIND, DEAD_ACCOUNT, DEAD_ATTEMPTS, DEAD_ERROR };

static void fail_abandoned(struct request *rq, struct tasks *tasks)
{
	const struct pg_rows *rows =
		pg_query(rq, JOB_FAIL_ABANDONED_SQL, pg_text(tasks->own_stream));
	for (int row = 0; row < rows->count; row++) {
		const char *account = pg_value(rows, row, DEAD_ACCOUNT);
		job_dead_letter(rq, tasks, pg_value(rows, row, DEAD_ID),
		                pg_value(rows, row, DEAD_KIND), account ? account : "",
		                pg_value_int(rows, row, DEAD_ATTEMPTS),
		                pg_value(rows, row, DEAD_ERROR));
		log_warn(LOG_GROUP_JOBS, "task failed: its worker stopped during the last attempt",
		         f_text("task", pg_value(rows, row, DEAD_ID)),
		         f_text("kind", pg_value(rows, row, DEAD_KIND)));
	}
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
	if (redis_is_ready(rq->worker->redis)) /* for jobs.dead */
		fail_abandoned(rq, tasks);
	requeue(rq, tasks);
	const struct pg_rows *queue = pg_query(rq, JOB_QUEUE_SQL, pg_int(COUNTED_MAX));
	metric_set(&queued_metric, NULL, NULL, (double)pg_value_int(queue, 0, 1));
	if (pg_value(queue, 0, 0) && pg_value_int(queue, 0, 0) < (int64_t)tasks_timing.reconcile)
		periodic_wake_in(tasks->reconciler,
		                 (uint64_t)MAX_OF(pg_value_int(queue, 0, 0), 0) + 1);
}
