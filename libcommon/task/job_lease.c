#include "task/job_lease.h"

#include "base/base.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/job_run.h"
#include "task/stream.h"

#include <string.h>

/* The ids and attempts of the claimed runs, as arrays for JOB_RENEW_SQL. */
static void running_arrays(struct tasks *tasks, struct buf *ids, struct buf *attempts)
{
	struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry) {
		run->is_in_renewal = run->is_claimed && run->request;
		if (!run->is_in_renewal)
			continue;
		buf_printf(ids, "%c%s", ids->length ? ',' : '{', run->task_id);
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
		    !run->is_complete && !has_row(rows, run->task_id))
			fiber_cancel(run->request->fiber, ERR_CONFLICT);
	}
}

/* Keep other consumers from taking over the entries of all runs. Copies the ids, since a run may end
 * during the call. */
static void renew_entries(struct request *rq, struct tasks *tasks)
{
	const char **ids = arena_array(rq->arena, (size_t)tasks->runs_count, sizeof(*ids));
	size_t count = 0;
	const struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry)
		ids[count++] = arena_strdup(rq->arena, run->entry_id);
	stream_renew_claims(rq, tasks->jobs_stream, tasks->settings.service,
	                    tasks->settings.instance, ids, count);
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
	renew_entries(rq, tasks);
	periodic_wake_in(tasks->lease_renewer, tasks_timing.lease / 3);
}
