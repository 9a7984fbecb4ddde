#include "task/job_complete.h"

#include "base/base.h"
#include "job.sql.h"
#include "pg/pg.h"

#include <stdlib.h>

#define BATCHES_MAX      2    /* one is prepared by Postgres while the other is written to disk */
#define BATCH_MAX        64   /* tasks */
#define LOCK_TIMEOUT     "1s" /* what waits for longer fails, and is tried alone or later */
#define BATCH_TIMEOUT_MS 9000 /* below the time that a stopping process gives its requests */

struct batch {
	struct tasks *tasks;
	struct completion *items[BATCH_MAX];
	size_t count;
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

/* Run the last writes of the jobs and complete their tasks: all, or none. */
static void complete(struct request *rq, const struct tasks *tasks, struct completion **items,
                     size_t count)
{
	struct buf ids = {.arena = rq->arena}, attempts = {.arena = rq->arena},
		   results = {.arena = rq->arena}, messages = {.arena = rq->arena};
	struct pg_call calls[BATCH_MAX + 2];
	size_t calls_count = 0;
	calls[calls_count++] = PG_CALL(JOB_COMPLETE_LIMIT_SQL, pg_text(LOCK_TIMEOUT));
	for (size_t i = 0; i < count; i++) {
		if (items[i]->last_write)
			calls[calls_count++] = *items[i]->last_write;
		array_add(&ids, items[i]->task->id);
		array_add(&attempts, arena_printf(rq->arena, "%d", items[i]->task->attempt));
		array_add(&results, items[i]->result_json);
		array_add(&messages, items[i]->message);
	}
	calls[calls_count++] =
		PG_CALL(JOB_COMPLETE_ALL_SQL, pg_text(array_end(&ids)),
	                pg_text(array_end(&attempts)), pg_text(tasks->settings.instance),
	                pg_text(array_end(&results)), pg_text(array_end(&messages)));
	enum err_code code = pg_try_all(rq, calls, calls_count);
	for (size_t i = 0; i < count; i++) {
		items[i]->code = code;
		items[i]->fault = rq->pg_fault;
	}
}

/* Whether the failure is one of a statement: what failed for all has no better chance alone. */
static bool is_of_one(enum err_code code)
{
	return code != ERR_NONE && code != ERR_UNAVAILABLE && code != ERR_UNCERTAIN &&
	       code != ERR_TIMEOUT;
}

static void batch_main(struct request *rq)
{
	struct batch *batch = rq->user;
	complete(rq, batch->tasks, batch->items, batch->count);
	if (batch->count == 1 || !is_of_one(batch->items[0]->code))
		return;
	for (size_t i = 0; i < batch->count; i++)
		complete(rq, batch->tasks, &batch->items[i], 1);
}

static void batches_start(struct tasks *tasks);

static void batch_over(struct request *rq)
{
	struct batch *batch = rq->user;
	struct tasks *tasks = batch->tasks;
	for (size_t i = 0; i < batch->count; i++) {
		batch->items[i]->is_over = true;
		fiber_wake(batch->items[i]->fiber);
	}
	free(batch);
	tasks->batches_count--;
	batches_start(tasks);
}

static void batches_start(struct tasks *tasks)
{
	if (tasks->batches_count == BATCHES_MAX || STAILQ_EMPTY(&tasks->completions))
		return;
	struct batch *batch = calloc(1, sizeof(*batch));
	require(batch);
	batch->tasks = tasks;
	while (batch->count < BATCH_MAX && !STAILQ_EMPTY(&tasks->completions)) {
		batch->items[batch->count++] = STAILQ_FIRST(&tasks->completions);
		STAILQ_REMOVE_HEAD(&tasks->completions, entry);
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
