#include "task/job_claim.h"

#include "base/base.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/job_run.h"
#include "task/stream.h"

#include <string.h>

#define SHORT_SHARE 4 /* one slot of so many is kept for short jobs */

/* XDEL the entries: they have woken this reader. */
static void delete_entries(struct request *rq, struct tasks *tasks,
                           const struct stream_entries *entries)
{
	const char **argv = arena_array(rq->arena, entries->count + 2, sizeof(*argv));
	struct redis_value *reply;
	argv[0] = "XDEL";
	argv[1] = tasks->jobs_stream;
	for (size_t i = 0; i < entries->count; i++)
		argv[i + 2] = entries->items[i].id;
	redis_try(rq, &reply, argv, entries->count + 2);
}

/* XREADGROUP of up to `slots` entries; waits for the first if the queue was empty. */
static enum err_code read_entries(struct request *rq, struct tasks *tasks, int slots,
                                  struct redis_value **ret_reply)
{
	const char *const head[] = {"XREADGROUP",
	                            "GROUP",
	                            tasks->settings.service,
	                            tasks->settings.instance,
	                            "COUNT",
	                            arena_printf(rq->arena, "%d", slots),
	                            "NOACK"};
	const char *argv[ARRAY_LEN(head) + 5];
	size_t argc = ARRAY_LEN(head);
	memcpy(argv, head, sizeof(head));
	if (tasks->is_queue_empty) {
		argv[argc++] = "BLOCK";
		argv[argc++] =
			arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.block);
	}
	argv[argc++] = "STREAMS";
	argv[argc++] = tasks->jobs_stream;
	argv[argc++] = ">";
	if (!tasks->is_queue_empty)
		return redis_try(rq, ret_reply, argv, argc);
	tasks->is_waiting = true;
	enum err_code code =
		redis_blocking_try(rq, tasks->reader_connection, ret_reply, argv, argc);
	tasks->is_waiting = false;
	return code;
}

/* Read entries and delete them. They are read without acknowledgement, because a lost one only delays
 * a task. Returns why Redis did not answer. */
static enum err_code take_entries(struct request *rq, struct tasks *tasks, int slots)
{
	struct redis_value *reply;
	enum err_code code = read_entries(rq, tasks, slots, &reply);
	if (code != ERR_NONE)
		return code;
	if (stream_is_group_missing(reply)) {
		stream_make_group(rq, tasks->jobs_stream, tasks->settings.service);
		return ERR_NONE;
	}
	if (reply->type == REDIS_ERROR)
		return ERR_INTERNAL;
	struct stream_entries entries = stream_entries_read(rq, reply);
	if (entries.count > 0)
		delete_entries(rq, tasks, &entries);
	return ERR_NONE;
}

/* Columns of JOB_CLAIM_SQL. */
enum { ROW_ID, ROW_KIND, ROW_ATTEMPTS, ROW_INTERRUPTIONS, ROW_ACCOUNT, ROW_INPUT, ROW_REQUEST };

/* Claim up to `count` tasks and start their runs; how many. */
static int claim(struct request *rq, struct tasks *tasks, bool with_long, int count)
{
	struct buf kinds = {.arena = rq->arena}, attempts = {.arena = rq->arena};
	for (const struct job *job = tasks->settings.jobs; job->kind; job++) {
		if (job->is_long && !with_long)
			continue;
		buf_printf(&kinds, "%c%s", kinds.length ? ',' : '{', job->kind);
		buf_printf(&attempts, "%c%d", attempts.length ? ',' : '{', job_attempts_max(job));
	}
	if (count <= 0 || !kinds.length)
		return 0;
	buf_puts(&kinds, "}");
	buf_puts(&attempts, "}");
	const struct pg_rows *rows =
		pg_query(rq, JOB_CLAIM_SQL, pg_text(kinds.data), pg_text(attempts.data),
	                 pg_text(tasks->settings.instance), pg_int((int64_t)tasks_timing.lease),
	                 pg_int(count));
	for (int row = 0; row < rows->count; row++)
		job_run_start(tasks, &(struct job_claimed){
					     .id = pg_value(rows, row, ROW_ID),
					     .kind = pg_value(rows, row, ROW_KIND),
					     .account = pg_value(rows, row, ROW_ACCOUNT),
					     .input = pg_value(rows, row, ROW_INPUT),
					     .request_id = pg_value(rows, row, ROW_REQUEST),
					     .attempt = (int)pg_value_int(rows, row, ROW_ATTEMPTS),
					     .interruptions = (int)pg_value_int(rows, row,
		                                                                ROW_INTERRUPTIONS),
				     });
	return rows->count;
}

/* How many more long jobs may run. */
static int long_slots_free(const struct tasks *tasks)
{
	int slots = tasks->settings.job_slots, running = 0;
	int kept = slots > 1 ? MAX_OF(slots / SHORT_SHARE, 1) : 0;
	const struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry)
		running += run->job->is_long;
	return MAX_OF(slots - kept - running, 0);
}

static int slots_free(const struct tasks *tasks)
{
	return tasks->is_draining ? 0 : tasks->settings.job_slots - tasks->runs_count;
}

void job_claim_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	int slots = slots_free(tasks);
	if (slots <= 0)
		return;
	enum err_code code = take_entries(rq, tasks, slots);
	slots = slots_free(tasks);
	int claimed = claim(rq, tasks, true, MIN_OF(slots, long_slots_free(tasks)));
	claimed += claim(rq, tasks, false, slots - claimed);
	tasks->is_queue_empty = claimed < slots;
	if (code != ERR_NONE)
		raise_error(rq, code, "%s cannot be read", tasks->jobs_stream);
	periodic_wake(tasks->reader);
}

void job_claim_stop(struct tasks *tasks)
{
	if (tasks->is_waiting || periodic_is_idle(tasks->reader))
		periodic_stop(tasks->reader);
}
