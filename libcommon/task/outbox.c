#include "task/outbox.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "observe/log.h"
#include "outbox.sql.h"
#include "pg/pg.h"
#include "task/backlog.h"
#include "task/publish.h"
#include "task/replay.h"

#include <string.h>

#define BATCH 100

/* Columns of OUTBOX_UNSENT_SQL. */
enum {
	ROW_ID,
	ROW_STREAM,
	ROW_TYPE,
	ROW_EVENT,
	ROW_ACCOUNT,
	ROW_AT,
	ROW_DATA,
	ROW_REQUEST,
	ROW_LANE
};

static void add_row(struct publication *publication, const struct pg_rows *rows, int row)
{
	static const struct {
		const char *name;
		int column;
	} FIELDS[] = {
		{"id", ROW_EVENT},  {"type", ROW_TYPE}, {"account", ROW_ACCOUNT},
		{"at", ROW_AT},     {"data", ROW_DATA}, {"request_id", ROW_REQUEST},
		{"lane", ROW_LANE},
	};
	const char *words[2 * ARRAY_LEN(FIELDS)];
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++) {
		words[2 * i] = FIELDS[i].name;
		words[2 * i + 1] = pg_value(rows, row, FIELDS[i].column);
	}
	publication_add(publication, pg_value(rows, row, ROW_STREAM), words, ARRAY_LEN(words));
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

static void mark_sent(struct request *rq, const struct tasks *tasks, const struct pg_rows *rows,
                      int64_t batch)
{
	if (rows->count > 0)
		pg_query(rq, OUTBOX_MARK_SENT_SQL, pg_text(array_of(rq, rows, ROW_ID)),
		         pg_int(batch), pg_text(tasks->settings.instance),
		         pg_int(tasks->relay_lease.fence));
}

static void send_lost_again(struct request *rq, int64_t redis_batch)
{
	log_warn(LOG_GROUP_JOBS, "redis lost entries, sending them again",
	         f_int("known_batch", redis_batch));
	pg_query(rq, OUTBOX_SEND_AGAIN_SQL, pg_int(redis_batch));
}

static void send_all_again(struct request *rq, int64_t redis_batch)
{
	const struct pg_rows *rows = pg_query(rq, OUTBOX_SEND_ALL_AGAIN_SQL, pg_int(redis_batch));
	const struct pg_rows *numbered = pg_query(rq, OUTBOX_NUMBER_AFTER_SQL, pg_int(redis_batch));
	if (!pg_empty(numbered))
		log_warn(LOG_GROUP_JOBS,
		         "postgres was restored to an earlier point, sending all events again",
		         f_int("redis_batch", redis_batch), f_int("rows", rows->affected));
}

/* Send a batch of the oldest unsent rows; whether a next pass should follow at once. An empty batch
 * is sent too, to find out whether Redis has lost entries. */
static bool send_batch(struct request *rq, struct tasks *tasks)
{
	if (time_monotonic_ms() >= tasks->replay_due_ms) {
		tasks->replay_due_ms = time_monotonic_ms() + tasks_timing.sweep;
		replay_serve(rq, tasks);
	}
	const struct pg_rows *rows = pg_query(rq, OUTBOX_UNSENT_SQL, pg_int(BATCH));
	const struct pg_rows *batches = pg_query(rq, OUTBOX_BATCHES_SQL);
	struct publication_state state = {
		.fence = tasks->relay_lease.fence,
		.sent_batch = pg_value_int(batches, 0, 0),
		.numbered_batch = pg_value_int(batches, 0, 1),
	};
	if (rows->count > 0)
		state.batch = pg_value_int(pg_query(rq, OUTBOX_BATCH_NEXT_SQL), 0, 0);
	struct publication publication = publication_new(rq, tasks, &state);
	for (int row = 0; row < rows->count; row++)
		add_row(&publication, rows, row);
	struct publication_result result = publication_send(&publication);
	switch (result.outcome) {
	case PUBLICATION_ADDED:
		mark_sent(rq, tasks, rows, state.batch);
		return rows->count == BATCH;
	case PUBLICATION_FENCED:
		lease_raise_fence(rq, &tasks->relay_lease, tasks->settings.instance, result.number);
		return true;
	case PUBLICATION_LOST:
		send_lost_again(rq, result.number);
		return true;
	case PUBLICATION_RESTORED:
		send_all_again(rq, result.number);
		return true;
	}
	raise_error(rq, ERR_INTERNAL, "the message store sent a wrong reply");
}

void outbox_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	backlog_measure(rq, tasks);
	if (!lease_take(rq, &tasks->relay_lease, tasks->settings.instance))
		periodic_wake_in(tasks->relay, lease_wait_ms(&tasks->relay_lease));
	else if (send_batch(rq, tasks))
		periodic_wake(tasks->relay);
}
