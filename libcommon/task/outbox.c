#include "task/outbox.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "outbox.sql.h"
#include "pg/pg.h"
#include "publish.lua.h"
#include "task/stream_trim.h"

#include <string.h>

#define BATCH        100
#define LAG_LOGGED_S 30    /* the relay is late when a row has waited for this time */
#define LAG_PAUSE_MS 60000 /* between two log lines about it */

METRIC_GAUGE(unsent_metric, "expops_outbox_unsent", "Rows of the outbox that wait for the relay.");
METRIC_GAUGE(oldest_metric, "expops_outbox_oldest_seconds",
             "How long the oldest unsent row of the outbox has waited.");

/* --- A batch of entries ----------------------------------------------------------------------- */

static void add_word(struct publication *publication, const char *word)
{
	if (publication->argc == publication->room) {
		size_t room = publication->room ? publication->room * 2 : 64;
		publication->argv =
			arena_grow(publication->rq->arena, publication->argv,
		                   publication->room * sizeof(char *), room * sizeof(char *));
		publication->room = room;
	}
	publication->argv[publication->argc++] = word;
}

static void add_number(struct publication *publication, int64_t number)
{
	add_word(publication, arena_printf(publication->rq->arena, "%lld", (long long)number));
}

struct publication publication_new(struct request *rq, struct tasks *tasks,
                                   const struct publication_state *state)
{
	struct publication publication = {.rq = rq, .tasks = tasks};
	const char *const words[] = {
		"EVAL", PUBLISH_LUA, "2", tasks->fence_key, tasks->batch_key,
	};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		add_word(&publication, words[i]);
	add_number(&publication, state->fence);
	add_number(&publication, state->sent_batch);
	add_number(&publication, state->numbered_batch);
	add_number(&publication, state->batch);
	return publication;
}

void publication_add(struct publication *publication, const char *stream, const char *const *fields,
                     size_t count)
{
	add_word(publication, stream);
	add_number(publication, (int64_t)count);
	for (size_t i = 0; i < count; i++)
		add_word(publication, fields[i]);
}

struct publication_result publication_send(struct publication *publication)
{
	const struct redis_value *reply =
		redis_command(publication->rq, publication->argv, publication->argc);
	if (reply->type != REDIS_LIST || reply->count != 2)
		raise_error(publication->rq, ERR_INTERNAL, "the message store sent a wrong reply");
	return (struct publication_result){
		.outcome = (enum publication_outcome)reply->items[0].integer,
		.number = reply->items[1].integer,
	};
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void add_row(struct publication *publication, const struct pg_rows *rows, int row)
{
	static const struct {
		const char *field, *column;
	} FIELDS[] = {
		{"id", "event_id"}, {"type", "type"}, {"account", "account"},
		{"at", "at"},       {"data", "data"}, {"request_id", "request_id"},
		{"lane", "lane"},
	};
	const char *words[2 * ARRAY_LEN(FIELDS)];
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++) {
		words[2 * i] = FIELDS[i].field;
		words[2 * i + 1] = pg_get(rows, row, FIELDS[i].column);
	}
	publication_add(publication, pg_get(rows, row, "stream"), words, ARRAY_LEN(words));
}

/* The ids of the rows as a Postgres array: `{1,2,3}`. */
static const char *ids_of(struct request *rq, const struct pg_rows *rows)
{
	struct buf text = {.arena = rq->arena};
	for (int row = 0; row < rows->count; row++)
		buf_printf(&text, "%c%s", row == 0 ? '{' : ',', pg_get(rows, row, "id"));
	buf_puts(&text, rows->count == 0 ? "{}" : "}");
	return text.data;
}

static void mark_sent(struct request *rq, const struct tasks *tasks, const struct pg_rows *rows,
                      int64_t batch)
{
	if (rows->count > 0)
		pg_query(rq, OUTBOX_MARK_SENT_SQL, pg_text(ids_of(rq, rows)), pg_int(batch),
		         pg_text(tasks->settings.instance), pg_int(tasks->relay_lease.fence));
}

static void send_lost_again(struct request *rq, int64_t redis_batch)
{
	log_warn("redis lost entries, sending them again", f_int("known_batch", redis_batch));
	run_in_steps(rq, &PG_CALL(OUTBOX_SEND_AGAIN_SQL, pg_int(redis_batch), pg_int(STEP_ROWS)));
}

static void send_all_again(struct request *rq, int64_t redis_batch)
{
	int64_t count = run_in_steps(rq, &PG_CALL(OUTBOX_SEND_ALL_AGAIN_SQL, pg_int(redis_batch),
	                                          pg_int(STEP_ROWS)));
	const struct pg_rows *numbered = pg_query(rq, OUTBOX_NUMBER_AFTER_SQL, pg_int(redis_batch));
	if (!pg_empty(numbered))
		log_warn("postgres was restored to an earlier point, sending all events again",
		         f_int("redis_batch", redis_batch), f_int("rows", count));
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
		.sent_batch = pg_get_int(batches, 0, "sent"),
		.numbered_batch = pg_get_int(batches, 0, "numbered"),
	};
	if (rows->count > 0)
		state.batch = pg_value_int(pg_query(rq, OUTBOX_BATCH_NEXT_SQL), 0);
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
	if (!lease_take(rq, &tasks->relay_lease, tasks->settings.instance))
		periodic_wake_in(tasks->relay, lease_wait_ms(&tasks->relay_lease));
	else if (send_batch(rq, tasks))
		periodic_wake(tasks->relay);
}

void outbox_measure(struct request *rq, struct tasks *tasks)
{
	uint64_t now_ms = time_monotonic_ms();
	const struct pg_rows *rows = pg_query(rq, OUTBOX_LAG_SQL);
	double oldest_s = pg_get_float(rows, 0, "oldest_s");
	metric_set(&unsent_metric, NULL, NULL, pg_get_float(rows, 0, "unsent"));
	metric_set(&oldest_metric, NULL, NULL, oldest_s);
	if (oldest_s < LAG_LOGGED_S || now_ms < tasks->lag_log_ms)
		return;
	tasks->lag_log_ms = now_ms + LAG_PAUSE_MS;
	log_warn("events wait to be sent to Redis", f_int("rows", pg_get_int(rows, 0, "unsent")),
	         f_float("oldest_seconds", oldest_s));
}
