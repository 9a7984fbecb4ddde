#include "task/reconcile.h"

#include "base/base.h"
#include "base/log.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/job_run.h"
#include "task/publish.h"
#include "task/stream.h"

#include <stdlib.h>

#define TAKEN_OVER_MAX "100"
#define PUBLISHED_MAX  500

/* Remove entries whose consumer has been silent for too long; publish_due() publishes those of their
 * tasks that are due. */
static void drop_stale_entries(struct request *rq, struct tasks *tasks)
{
	const char *const argv[] = {
		"XAUTOCLAIM",
		tasks->jobs_stream,
		tasks->settings.service,
		tasks->settings.instance,
		arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.stale),
		"0-0",
		"COUNT",
		TAKEN_OVER_MAX,
	};
	const struct redis_value *reply = stream_command_if_exists(rq, argv, ARRAY_LEN(argv));
	if (!reply || reply->type != REDIS_LIST || reply->count < 2) /* no group yet */
		return;
	struct stream_entries entries = stream_entries_of(rq, &reply->items[1]);
	for (size_t i = 0; i < entries.count; i++) {
		const char *task = stream_field(&entries.items[i], "task");
		job_entry_remove(rq, tasks, entries.items[i].id, task ? task : "");
	}
	if (entries.count > 0)
		log_info(LOG_GROUP_JOBS, "entries taken over", f_int("count", entries.count));
}

/* Columns of JOB_FAIL_ABANDONED_SQL. */
enum { DEAD_ID, DEAD_KIND, DEAD_ACCOUNT, DEAD_ATTEMPTS, DEAD_ERROR };

static void fail_abandoned(struct request *rq, struct tasks *tasks)
{
	const struct pg_rows *rows = pg_query(rq, JOB_FAIL_ABANDONED_SQL);
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

/* Publish the tasks that are due; those that have an entry are skipped. */
static void publish_due(struct request *rq, struct tasks *tasks)
{
	const struct pg_rows *rows = pg_query(rq, JOB_DUE_SQL, pg_int(PUBLISHED_MAX));
	if (pg_empty(rows))
		return;
	struct publication publication = publication_new(rq, tasks, NULL);
	for (int row = 0; row < rows->count; row++)
		publication_add_job(&publication, pg_value(rows, row, 0), pg_value(rows, row, 1));
	struct publication_result result = publication_send(&publication);
	if (result.number > 0)
		log_debug(LOG_GROUP_JOBS, "tasks published again", f_int("count", result.number));
	if (result.number == PUBLISHED_MAX)
		periodic_wake(tasks->reconciler);
}

void reconcile_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	if (!lease_take(rq, &tasks->reconciler_lease, tasks->settings.instance)) {
		periodic_wake_in(tasks->reconciler, lease_wait_ms(&tasks->reconciler_lease));
		return;
	}
	drop_stale_entries(rq, tasks);
	fail_abandoned(rq, tasks);
	publish_due(rq, tasks);
	const struct pg_rows *next = pg_query(rq, JOB_NEXT_DUE_SQL);
	if (pg_value(next, 0, 0) && pg_value_int(next, 0, 0) < (int64_t)tasks_timing.reconcile)
		periodic_wake_in(tasks->reconciler, (uint64_t)pg_value_int(next, 0, 0) + 1);
}
