#include "task/job_run.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "crypto/scope.h"
#include "job.sql.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"
#include "pacing/backoff.h"
#include "pg/batch.h"

#include <stdlib.h>
#include <string.h>

#define ATTEMPTS_DEFAULT   5
#define TIMEOUT_DEFAULT_MS 300000
#define STORE_TIMEOUT_MS   600000 /* Postgres may be away as long; a drain does not wait for it */
#define STORE_PAUSE_MS     500
#define ERROR_MAX          1000
#define RETRY_AFTER_MAX_MS 3600000 /* it may end sooner; under start_hold() of svc-fleet */
#define UPSTREAM_FACTOR    30      /* of the pauses of tasks_timing */

METRIC_COUNTER(jobs_total, "expops_jobs_total",
               "Attempts of tasks by how they ended: completed, "
               "retried, interrupted, failed, refused (by a mistake of the caller) or lost.",
               "kind", "outcome");
METRIC_GAUGE(running_metric, "expops_jobs_running", "Tasks that this replica runs.");
METRIC_HISTOGRAM(job_seconds, "expops_job_seconds", "How long attempts of tasks took.", "kind");

void job_metrics_start(const struct job *jobs)
{
	for (; jobs->kind; jobs++)
		metric_add(&jobs_total, jobs->kind, "failed", 0);
}

int job_attempts_max(const struct job *job)
{
	return job->attempts_max ? job->attempts_max : ATTEMPTS_DEFAULT;
}

bool job_is_quick(const struct tasks *tasks, const struct job *job)
{
	return !job->is_long &&
	       tasks->usual_us[job - tasks->settings.jobs] <= tasks_timing.quick * 1000;
}

/* The moving average follows a completed attempt by a quarter. */
static void note_duration(const struct job_run *run, uint64_t us)
{
	uint64_t *usual_us = &run->tasks->usual_us[run->job - run->tasks->settings.jobs];
	*usual_us = (3 * *usual_us + us) / 4;
}

static const struct job *job_find(const struct job *jobs, const char *kind)
{
	for (; jobs->kind; jobs++) {
		if (strcmp(jobs->kind, kind) == 0)
			return jobs;
	}
	return NULL;
}

/* The run that a task belongs to. */
static struct job_run *run_of(struct task *task)
{
	return CONTAINER_OF(task, struct job_run, task);
}

void task_progress(struct request *rq, struct task *task, int percent, const char *message)
{
	int bounded = MAX_OF(0, MIN_OF(percent, 100));
	const struct pg_rows *rows =
		pg_query(rq, JOB_PROGRESS_SQL, pg_text(task->id), pg_int(task->attempt),
	                 pg_text(run_of(task)->tasks->settings.instance), pg_int(bounded),
	                 pg_text(message));
	if (rows->affected == 0)
		raise_error(rq, ERR_CONFLICT, "another worker has taken the task over");
}

void task_complete_after(struct request *rq, struct task *task, const char *result_json,
                         const char *message, const struct pg_call *last_write)
{
	struct job_run *run = run_of(task);
	pg_batch_query_after(rq, last_write,
	                     &PG_CALL(JOB_COMPLETE_SQL, pg_text(task->id), pg_int(task->attempt),
	                              pg_text(run->tasks->settings.instance), pg_text(result_json),
	                              pg_text(message)));
	run->is_complete = true;
}

void task_complete(struct request *rq, struct task *task, const char *result_json,
                   const char *message)
{
	task_complete_after(rq, task, result_json, message, NULL);
}

static void job_main(struct request *rq)
{
	struct job_run *run = rq->user;
	struct task *task = &run->task;
	run->request = rq;
	rq->traceparent = run->traceparent;
	rq->caller = (struct identity){.kind = KEY_SERVICE, .scopes = SCOPE_ALL};
	if (task->account[0])
		require(uuid_parse(task->account, strlen(task->account), &rq->caller.account));
	if (json_parse_peer(rq->arena, run->input, strlen(run->input), SIZE_MAX, &task->input,
	                    NULL))
		raise_error(rq, ERR_INTERNAL, "the input of the task cannot be parsed");
	run->job->run(rq, task);
	if (pg_in_transaction(rq))
		raise_error(rq, ERR_INTERNAL, "the job left its transaction open");
	if (!run->is_complete)
		raise_error(rq, ERR_INTERNAL, "the job ended without task_complete()");
}

/* Whether the attempt is no failure of the job. A time-out of the job itself is one: it may be too
 * slow every time. */
static bool is_interruption(const struct request *rq)
{
	enum err_code code = rq->problem.code;
	return err_is_transient(code) || (code == ERR_TIMEOUT && request_left_ms(rq) > 0);
}

/* How the job's request ended. A new request stores that, since the job's has ended. */
struct ending {
	struct job_run *run;
	enum err_code code;
	bool is_interruption;
	uint64_t retry_after_ms; /* that the error asks for; 0: it does not */
	const char *error;       /* empty: none */
	const char *outcome;
};

static void describe(struct ending *ending, const struct request *rq)
{
	const struct problem *problem = &rq->problem;
	const char *detail = problem->detail ? problem->detail : err_info(problem->code)->detail;
	struct buf text = {.arena = ending->run->arena};
	buf_puts(&text, detail);
	for (const struct problem_field *field = problem->fields; field; field = field->next)
		buf_printf(&text, "; %s %s", field->field, field->message);
	ending->error = utf8_shorten(text.arena, text.data, ERROR_MAX);
	ending->code = problem->code;
	ending->is_interruption = is_interruption(rq);
	ending->retry_after_ms =
		MIN_OF(problem->retry_after_s * UINT64_C(1000), (uint64_t)RETRY_AFTER_MAX_MS);
}

/* Whether the task failed by a mistake of its caller, who reads it in the task: nothing that an
 * operator could mend, as a setting that is missing. */
static bool is_refused(const struct ending *ending)
{
	return ending->run->job->acts_for_caller && err_is_final(ending->code) &&
	       ending->code != ERR_NOT_CONFIGURED;
}

/* `row` is that of JOB_FAIL_SQL. No row: the task was completed before the failure, or another
 * worker has claimed it. */
static const char *outcome_of(const struct ending *ending, const struct pg_rows *row)
{
	if (pg_empty(row))
		return "lost";
	if (pg_get_bool(row, 0, "is_over"))
		return is_refused(ending) ? "refused" : "failed";
	return ending->is_interruption ? "interrupted" : "retried";
}

/* Until the next attempt. What another server says that makes no sense is often over after some
 * minutes: a key that is replaced, a page in place of an answer. The attempts behind the first
 * repetition last as long. */
static uint64_t pause_ms_of(const struct ending *ending)
{
	const struct job_run *run = ending->run;
	int failures = ending->is_interruption ? run->interruptions + 1
	                                       : run->task.attempt - run->interruptions;
	uint64_t retry = tasks_timing.retry, retry_max = tasks_timing.retry_max;
	if (ending->code == ERR_UPSTREAM && failures > 1) {
		failures--;
		retry *= UPSTREAM_FACTOR;
		retry_max *= UPSTREAM_FACTOR;
	}
	return MAX_OF(backoff_ms((unsigned)failures, retry, retry_max), ending->retry_after_ms);
}

/* Record the failed attempt: the task runs again later, or has failed. */
static enum err_code store_failure(struct request *rq, struct ending *ending)
{
	struct job_run *run = ending->run;
	bool is_interruption = ending->is_interruption;
	uint64_t pause_ms = pause_ms_of(ending);
	struct pg_rows *row;
	enum err_code code =
		pg_try(rq, &row, NULL, JOB_FAIL_SQL, pg_text(run->task.id),
	               pg_int(run->task.attempt), pg_text(run->tasks->settings.instance),
	               pg_bool(err_is_final(ending->code)), pg_text(ending->error),
	               pg_int((int64_t)pause_ms), pg_bool(is_interruption),
	               pg_int((int64_t)tasks_timing.interrupted_max), pg_bool(is_refused(ending)),
	               pg_text(run->tasks->own_stream));
	if (code)
		return code;
	ending->outcome = outcome_of(ending, row);
	if (!pg_empty(row) && !pg_get_bool(row, 0, "is_over"))
		periodic_wake_in(run->tasks->reconciler, pause_ms + 1);
	return ERR_NONE;
}

/* What has interrupted the attempt may be that Postgres is away. An attempt that is not recorded
 * counts as failed. */
static void store_failure_main(struct request *rq)
{
	struct ending *ending = rq->user;
	enum err_code code;
	while ((code = store_failure(rq, ending)) && err_is_transient(code) &&
	       !ending->run->tasks->is_draining)
		fiber_sleep(rq, STORE_PAUSE_MS);
	if (code)
		pg_raise(rq, code);
}

static void report_outcome(const struct ending *ending)
{
	const struct job_run *run = ending->run;
	double seconds = (double)(time_monotonic_us() - run->started_us) / 1e6;
	metric_add(&jobs_total, run->task.kind, ending->outcome, 1);
	metric_observe_seconds(&job_seconds, run->task.kind, NULL, seconds);
	log_info("attempt ended", f_text("task", run->task.id), f_text("kind", run->task.kind),
	         f_int("attempt", run->task.attempt), f_text("outcome", ending->outcome),
	         f_float("seconds", seconds),
	         f_text("error", ending->error[0] ? ending->error : NULL));
	span_end(run->span, run->task.kind, ending->code != ERR_NONE,
	         f_text("expops.task.id", run->task.id),
	         f_int("expops.task.attempt", run->task.attempt),
	         f_text("expops.task.outcome", ending->outcome),
	         f_text("expops.request_id", run->request_id),
	         f_text("error.type", ending->code ? err_info(ending->code)->slug : NULL));
}

static void run_end(struct ending *ending)
{
	struct job_run *run = ending->run;
	struct tasks *tasks = run->tasks;
	report_outcome(ending);
	if (strcmp(ending->outcome, "completed") == 0)
		note_duration(run, time_monotonic_us() - run->started_us);
	LIST_REMOVE(run, entry);
	tasks->runs_count--;
	metric_add(&running_metric, NULL, NULL, -1);
	/* Long tasks may wait, because the reader had no slot for them. */
	tasks->announced += run->job->is_long;
	arena_free(run->arena);
	periodic_wake(tasks->reader);
	tasks->run_ended(tasks);
}

static void store_failure_done(struct request *rq)
{
	struct ending *ending = rq->user;
	/* When it was not recorded, the lease expires and the reconciler queues the task again. */
	if (rq->problem.code != ERR_NONE)
		log_warn("outcome of an attempt not recorded", f_text("task", ending->run->task.id),
		         f_text("error", rq->problem.detail));
	run_end(ending);
}

static void job_over(struct request *rq)
{
	struct job_run *run = rq->user;
	struct ending *ending = arena_new_of(run->arena, struct ending);
	ending->run = run;
	ending->error = "";
	run->request = NULL;
	if (rq->problem.code == ERR_NONE) {
		ending->outcome = "completed";
		run_end(ending);
		return;
	}
	ending->outcome = "lost";
	describe(ending, rq);
	request_spawn(rq->worker, rq->id, STORE_TIMEOUT_MS, store_failure_main, store_failure_done,
	              ending);
}

void job_run_start(struct tasks *tasks, const struct job_claimed *claimed)
{
	const struct job *job = job_find(tasks->settings.jobs, claimed->kind);
	struct arena *arena = arena_new();
	struct job_run *run = arena_new_of(arena, struct job_run);
	*run = (struct job_run){
		.tasks = tasks,
		.job = job,
		.arena = arena,
		.input = arena_strdup(arena, claimed->input),
		.interruptions = claimed->interruptions,
		.shares = job_is_quick(tasks, job) ? 1 : SLOT_SHARES,
		.started_us = time_monotonic_us(),
	};
	run->task = (struct task){
		.id = arena_strdup(arena, claimed->id),
		.kind = job->kind,
		.account = arena_strdup(arena, claimed->account ? claimed->account : ""),
		.attempt = claimed->attempt,
		.attempts_max = job_attempts_max(job),
	};
	run->request_id =
		arena_strdup(arena, claimed->request_id ? claimed->request_id : run->task.id);
	run->span = span_begin(arena, SPAN_CONSUMER, claimed->request_id, &run->traceparent);
	LIST_INSERT_HEAD(&tasks->runs, run, entry);
	tasks->runs_count++;
	metric_add(&running_metric, NULL, NULL, 1);
	periodic_wake_in(tasks->lease_renewer, tasks_timing.lease / 3);
	request_spawn(tasks->worker, run->request_id,
	              job->timeout_ms ? job->timeout_ms : TIMEOUT_DEFAULT_MS, job_main, job_over,
	              run);
}
