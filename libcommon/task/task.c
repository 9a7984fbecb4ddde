#include "task/task.h"

#include "base/base.h"
#include "base/json.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/job_run.h"

#include <string.h>

/* The run that a job's task is part of. */
static struct job_run *run_of(struct task *task)
{
	return CONTAINER_OF(task, struct job_run, task);
}

static void require_ours(struct request *rq, const struct pg_rows *rows)
{
	if (rows->affected == 0)
		raise_error(rq, ERR_CONFLICT, "another worker has taken the task over");
}

void task_progress(struct request *rq, struct task *task, int percent, const char *message)
{
	int bounded = MAX_OF(0, MIN_OF(percent, 100));
	require_ours(rq, pg_query(rq, JOB_PROGRESS_SQL, pg_text(task->id), pg_int(task->attempt),
	                          pg_text(run_of(task)->tasks->settings.instance), pg_int(bounded),
	                          pg_text(message)));
}

void task_complete(struct request *rq, struct task *task, const char *result_json,
                   const char *message)
{
	require_ours(rq, pg_query(rq, JOB_COMPLETE_SQL, pg_text(task->id), pg_int(task->attempt),
	                          pg_text(run_of(task)->tasks->settings.instance),
	                          pg_text(result_json), pg_text(message)));
	run_of(task)->is_complete = true;
}

bool event_is_new(struct request *rq, const struct event *event)
{
	return pg_query(rq, EVENT_NOTE_SEEN_SQL, pg_text(event->id))->affected == 1;
}
