#include "base/base.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/job_run.h"
#include "task/stream.h"

#include <stdlib.h>
#include <string.h>

#define DEAD_STREAM "jobs.dead"
#define DEAD_KEPT   "10000"

static int free_slots(const struct tasks *tasks)
{
	return tasks->settings.job_slots - tasks->runs_count;
}

/* Read as many entries as there are free slots, wait for some when there are none. Woken by each
 * job that ends. */
void jobs_read_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	int slots = free_slots(tasks);
	if (slots <= 0)
		return;
	if (!tasks->has_jobs_group)
		stream_make_group(rq, tasks->jobs_stream, tasks->settings.service);
	struct stream_entries entries;
	tasks->has_jobs_group = stream_read_group(rq, tasks->reader_connection, tasks->jobs_stream,
	                                          tasks->settings.service, tasks->settings.instance,
	                                          ">", slots, tasks_timing.block, &entries);
	for (size_t i = 0; i < entries.count; i++) {
		const char *task = stream_field(&entries.items[i], "task");
		const char *kind = stream_field(&entries.items[i], "kind");
		if (task && kind)
			job_run_start(tasks, entries.items[i].id, task, kind);
	}
	periodic_wake(tasks->reader);
}

/* Arrays of the tasks that run now: ids and attempts, for JOB_RENEW_SQL. */
static void running_arrays(struct tasks *tasks, struct buf *ids, struct buf *attempts)
{
	for (struct job_run *run = tasks->runs; run; run = run->next) {
		run->is_asked_for = run->is_claimed && run->request;
		if (!run->is_asked_for)
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

/* Whoever asked and got no row has lost its task: to another worker, or it was cancelled. */
static void cancel_lost(struct tasks *tasks, const struct pg_rows *rows)
{
	for (struct job_run *run = tasks->runs; run; run = run->next) {
		if (run->is_asked_for && run->request && run->request->fiber && !run->is_complete &&
		    !has_row(rows, run->task_id))
			fiber_cancel(run->request->fiber, ERR_CONFLICT);
	}
}

/* Tell the group that these entries are being worked on, so that nobody takes them over. */
static void touch_entries(struct request *rq, struct tasks *tasks)
{
	const char **argv = arena_array(rq->arena, (size_t)tasks->runs_count + 6, sizeof(*argv));
	const char *const head[] = {"XCLAIM", tasks->jobs_stream, tasks->settings.service,
	                            tasks->settings.instance, "0"};
	struct redis_value *reply;
	size_t argc = ARRAY_LEN(head);
	memcpy(argv, head, sizeof(head));
	for (const struct job_run *run = tasks->runs; run; run = run->next)
		argv[argc++] = arena_strdup(rq->arena, run->entry_id);
	argv[argc++] = "JUSTID";
	if (tasks->runs && redis_try(rq, &reply, argv, argc) != ERR_NONE)
		log_debug(LOG_GROUP_JOBS, "entries not touched");
}

/* Renew the leases of what runs; woken when a job begins. */
void jobs_renew_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	struct buf ids = {.arena = rq->arena}, attempts = {.arena = rq->arena};
	if (!tasks->runs)
		return;
	running_arrays(tasks, &ids, &attempts);
	if (ids.length > 1) {
		const struct pg_rows *rows =
			pg_query(rq, JOB_RENEW_SQL, pg_text(ids.data), pg_text(attempts.data),
		                 pg_text(tasks->settings.instance),
		                 pg_int((int64_t)tasks_timing.lease));
		cancel_lost(tasks, rows);
	}
	touch_entries(rq, tasks);
	periodic_wake_in(tasks->renewer, tasks_timing.lease / 3);
}

void job_bury(struct request *rq, struct tasks *tasks, const char *task_id, const char *kind,
              const char *account, int64_t attempts, const char *error)
{
	char at[TIME_TEXT_LEN + 1];
	time_format(time_now_ms(), at);
	const char *const argv[] = {
		"XADD",     DEAD_STREAM,
		"MAXLEN",   "~",
		DEAD_KEPT,  "*",
		"service",  tasks->settings.service,
		"task",     task_id,
		"kind",     kind,
		"account",  account,
		"attempts", arena_printf(rq->arena, "%lld", (long long)attempts),
		"error",    error,
		"at",       at,
	};
	struct redis_value *reply;
	if (redis_try(rq, &reply, argv, ARRAY_LEN(argv)) != ERR_NONE || reply->type == REDIS_ERROR)
		log_error(LOG_GROUP_JOBS, "no copy of a failed task", f_text("task", task_id),
		          f_text("kind", kind), f_text("error", error));
}

void job_remove(struct request *rq, struct tasks *tasks, const char *entry_id, const char *task_id)
{
	static const char SCRIPT[] = "redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) "
				     "redis.call('XDEL', KEYS[1], ARGV[2]) "
				     "if redis.call('HGET', KEYS[2], ARGV[3]) == ARGV[2] then "
				     "  redis.call('HDEL', KEYS[2], ARGV[3]) "
				     "end "
				     "return 1";
	redis_words(rq, "EVAL", SCRIPT, "2", tasks->jobs_stream, tasks->held_key,
	            tasks->settings.service, entry_id, task_id);
}
