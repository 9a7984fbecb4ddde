#include "task/outbox.h"

#include "base/base.h"
#include "base/log.h"
#include "base/metrics.h"
#include "outbox.sql.h"
#include "pg/pg.h"
#include "task/publish.h"
#include "task/stream_trim.h"

#include <string.h>

#define BATCH 100

static struct metric unsent_metric =
	METRIC_GAUGE("expops_outbox_unsent", "Rows of the outbox that wait for the relay.", NULL);

void outbox_register(void)
{
	metric_register(&unsent_metric);
}

/* Columns of OUTBOX_UNSENT_SQL. */
enum {
	ROW_ID,
	ROW_STREAM,
	ROW_TASK,
	ROW_TYPE,
	ROW_EVENT,
	ROW_ACCOUNT,
	ROW_AT,
	ROW_DATA,
	ROW_REQUEST
};

static void add_row(struct publication *publication, const struct pg_rows *rows, int row)
{
	const char *stream = pg_value(rows, row, ROW_STREAM);
	const char *task = pg_value(rows, row, ROW_TASK);
	if (strcmp(stream, "jobs") == 0 && task) {
		publication_add_job(publication, task, pg_value(rows, row, ROW_TYPE));
		return;
	}
	static const struct {
		const char *name;
		int column;
	} FIELDS[] = {
		{"id", ROW_EVENT}, {"type", ROW_TYPE}, {"account", ROW_ACCOUNT},
		{"at", ROW_AT},    {"data", ROW_DATA}, {"request_id", ROW_REQUEST},
	};
	const char *words[2 * ARRAY_LEN(FIELDS)];
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++) {
		words[2 * i] = FIELDS[i].name;
		words[2 * i + 1] = pg_value(rows, row, FIELDS[i].column);
	}
	stream_trim_add(publication->tasks, stream);
	publication_add(publication, stream, words, ARRAY_LEN(words));
}

/* The values of a column as a Postgres array: `{1,2,3}`. */
static const char *array_of(struct request *rq, const struct pg_rows *rows, int column)
{
	struct buf text = {.arena = rq->arena};
	for (int row = 0; row < rows->count; row++)
		buf_printf(&text, "%c%s", row == 0 ? '{' : ',', pg_value(rows, row, column));
	buf_puts(&text, rows->count == 0 ? "{}" : "}");
	return text.data;
}

static void measure_unsent(struct request *rq, const struct pg_rows *rows)
{
	int64_t count = rows->count;
	if (count == BATCH)
		count = pg_value_int(pg_query(rq, OUTBOX_COUNT_UNSENT_SQL), 0, 0);
	metric_set(&unsent_metric, NULL, NULL, (double)count);
}

/* Send one batch, oldest rows first. The lock is held during the call of Redis, which keeps the order
 * between replicas. A batch whose pass was cut short is sent again: entries arrive at least once. An
 * empty batch is sent too, to find out whether Redis has lost entries. */
void outbox_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	pg_begin(rq);
	const struct pg_rows *lock = pg_query(rq, OUTBOX_LOCK_SQL);
	if (!pg_value_bool(lock, 0, 0)) { /* another replica sends, and was notified too */
		pg_rollback(rq);
		return;
	}
	const struct pg_rows *rows = pg_query(rq, OUTBOX_UNSENT_SQL, pg_int(BATCH));
	measure_unsent(rq, rows);
	int64_t batch = 0;
	if (rows->count > 0)
		batch = pg_value_int(pg_query(rq, OUTBOX_BATCH_NEXT_SQL), 0, 0);
	struct publication publication =
		publication_new(rq, tasks, pg_value_int(lock, 0, 1), batch);
	for (int row = 0; row < rows->count; row++)
		add_row(&publication, rows, row);
	struct publication_result result = publication_send(&publication);
	if (result.is_lost) {
		log_warn(LOG_GROUP_JOBS, "redis lost entries, sending them again",
		         f_int("known_batch", result.redis_batch));
		pg_query(rq, OUTBOX_SEND_AGAIN_SQL, pg_int(result.redis_batch));
	} else if (rows->count > 0) {
		pg_query(rq, OUTBOX_MARK_SENT_SQL, pg_text(array_of(rq, rows, ROW_ID)),
		         pg_int(batch));
	}
	pg_commit(rq);
	if (!result.is_lost && rows->count < BATCH)
		metric_set(&unsent_metric, NULL, NULL, 0);
	else
		periodic_wake(tasks->relay);
}
