#include "task/job_complete.h"

#include "base/base.h"
#include "job.sql.h"
#include "pg/pg.h"

#include <stdlib.h>
#include <string.h>

#define BATCHES_MAX       2    /* one is prepared by Postgres while the other is written to disk */
#define BATCH_MAX         64   /* tasks */
#define LOCK_TIMEOUT      "1s" /* what waits for longer fails, and is tried alone or later */
#define STATEMENT_TIMEOUT "2s"
/* With the time for recording a failure (job_run.c) below the time that a stopping process gives
 * its requests. */
#define BATCH_TIMEOUT_MS 5000

struct batch {
	struct tasks *tasks;
	struct completion *items[BATCH_MAX];
	size_t count;
	bool is_split; /* it has failed, and each is to be tried alone */
};

/* Append an element to an array of texts: `{"a","b"` and so on. NULL: SQL NULL. */
static void array_add(struct buf *array, const char *text)
{
	buf_puts(array, array->length ? "," : "{");
	if (!text) {
		buf_puts(array, "NULL");
		return;
	}
	buf_puts(array, "\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_puts(array, "\\");
		buf_add(array, text, 1);
	}
	buf_puts(array, "\"");
}

static const char *array_end(struct buf *array)
{
	buf_puts(array, "}");
	return array->data;
}

static int by_task_id(const void *a, const void *b)
{
	const struct completion *const *left = a, *const *right = b;
	return strcmp((*left)->task->id, (*right)->task->id);
}

/* Whether the failure is one of a statement: what failed for all has no better chance alone. */
static bool is_of_one(const struct request *rq, enum err_code code)
{
	if (code == ERR_TIMEOUT)
		return request_left_ms(rq) > 0; /* a statement's limit, not the batch's */
	return code != ERR_NONE && code != ERR_UNAVAILABLE && code != ERR_UNCERTAIN;
}

/* Run the last writes of the jobs and complete their tasks: all, or none. Locks the tasks in the
 * order of their ids. */
static void batch_main(struct request *rq)
{
	struct batch *batch = rq->user;
	struct completion **items = batch->items;
	struct buf ids = {.arena = rq->arena}, attempts = {.arena = rq->arena},
		   results = {.arena = rq->arena}, messages = {.arena = rq->arena};
	struct pg_call calls[BATCH_MAX + 2];
	size_t calls_count = 0;
	calls[calls_count++] =
		PG_CALL(JOB_COMPLETE_LIMITS_SQL, pg_text(LOCK_TIMEOUT), pg_text(STATEMENT_TIMEOUT));
	qsort(items, batch->count, sizeof(struct completion *), by_task_id);
	for (size_t i = 0; i < batch->count; i++) {
		if (items[i]->last_write)
			calls[calls_count++] = *items[i]->last_write;
		array_add(&ids, items[i]->task->id);
		array_add(&attempts, arena_printf(rq->arena, "%d", items[i]->task->attempt));
		array_add(&results, items[i]->result_json);
		array_add(&messages, items[i]->message);
	}
	calls[calls_count++] =
		PG_CALL(JOB_COMPLETE_ALL_SQL, pg_text(array_end(&ids)),
	                pg_text(array_end(&attempts)), pg_text(batch->tasks->settings.instance),
	                pg_text(array_end(&results)), pg_text(array_end(&messages)));
	enum err_code code = pg_try_all(rq, calls, calls_count);
	for (size_t i = 0; i < batch->count; i++) {
		items[i]->code = code;
		items[i]->fault = rq->pg_fault;
	}
	batch->is_split = batch->count > 1 && is_of_one(rq, code);
}

static void batches_start(struct tasks *tasks);

static void batch_over(struct request *rq)
{
	struct batch *batch = rq->user;
	struct tasks *tasks = batch->tasks;
	for (size_t i = 0; i < batch->count; i++) {
		struct completion *one = batch->items[i];
		if (batch->is_split) {
			one->is_alone = true;
			STAILQ_INSERT_TAIL(&tasks->completions, one, entry);
		} else {
			one->is_over = true;
			fiber_wake(one->fiber);
		}
	}
	free(batch);
	tasks->batches_count--;
	batches_start(tasks);
}

/* Whether the completion can be in the batch. */
static bool has_room(const struct batch *batch, const struct completion *next)
{
	if (batch->count == 0)
		return true;
	return batch->count < BATCH_MAX && !next->is_alone && !batch->items[0]->is_alone;
}

static void batches_start(struct tasks *tasks)
{
	if (tasks->batches_count == BATCHES_MAX || STAILQ_EMPTY(&tasks->completions))
		return;
	struct batch *batch = calloc(1, sizeof(*batch));
	require(batch);
	batch->tasks = tasks;
	struct completion *next;
	while ((next = STAILQ_FIRST(&tasks->completions)) && has_room(batch, next)) {
		STAILQ_REMOVE_HEAD(&tasks->completions, entry);
		batch->items[batch->count++] = next;
	}
	tasks->batches_count++;
	request_spawn(tasks->worker, "completions", BATCH_TIMEOUT_MS, batch_main, batch_over,
	              batch);
}

void job_complete(struct request *rq, struct tasks *tasks, struct completion *completion)
{
	completion->fiber = fiber_self();
	completion->code = ERR_UNAVAILABLE; /* until it is tried */
	STAILQ_INSERT_TAIL(&tasks->completions, completion, entry);
	batches_start(tasks);
	while (!completion->is_over)
		fiber_wait_uncancelled();
	if (completion->code == ERR_NONE)
		return;
	rq->pg_fault = completion->fault;
	pg_raise(rq, completion->code);
}
