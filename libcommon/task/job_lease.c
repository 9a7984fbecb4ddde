#include "task/job_lease.h"

#include "base/base.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/job_run.h"

#include <string.h>

/* The ids and attempts of the runs, as arrays for JOB_RENEW_SQL. */
static void running_arrays(struct tasks *tasks, struct buf *ids, struct buf *attempts)
{
	struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry) {
		run->is_in_renewal = run->request != NULL;
		if (!run->is_in_renewal)
			continue;
		buf_printf(ids, "%c%s", ids->length ? ',' : '{', run->task.id);
		buf_printf(attempts, "%c%d", attempts->length ? ',' : '{', run->task.attempt);
	}
	buf_puts(ids, "}");
	buf_puts(attempts, "}");
}

static bool has_row(const struct pg_rows *rows, const char *id)
{
	for (int row = 0; row < rows->count; row++) {
		if (strcmp(pg_value(rows, row, 0), id) == 0)
			return true;
	}
	return false;
}

/* A run without a row in the answer has lost its task: another worker has claimed it, or it was
 * cancelled. */
static void cancel_lost(struct tasks *tasks, const struct pg_rows *rows)
{
	struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry) {
		if (run->is_in_renewal && run->request && run->request->fiber &&
		    !run->is_complete && !has_row(rows, run->task.id))
			fiber_cancel(run->request->fiber, ERR_CONFLICT);
	}
}

void job_lease_renew_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	struct buf ids = {.arena = rq->arena}, attempts = {.arena = rq->arena};
	if (LIST_EMPTY(&tasks->runs))
		return;
	running_arrays(tasks, &ids, &attempts);
	if (ids.length > 1) {
		const struct pg_rows *rows =
			pg_query(rq, JOB_RENEW_SQL, pg_text(ids.data), pg_text(attempts.data),
		                 pg_text(tasks->settings.instance),
		                 pg_int((int64_t)tasks_timing.lease));
		cancel_lost(tasks, rows);
	}
	periodic_wake_in(tasks->lease_renewer, tasks_timing.lease / 3);
}
