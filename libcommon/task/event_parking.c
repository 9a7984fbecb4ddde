#include "task/event_parking.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "crypto/uuid.h"
#include "event.sql.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pacing/backoff.h"
#include "pg/pg.h"

#include <stdio.h>
#include <string.h>

#define LANES_OF_PASS 64
#define LANES_AT_ONCE 2   /* beside those of the reader */
#define TURN_EVENTS   100 /* of one lane before the others have their turn */
#define TURN_MS       2000
#define INSERT_BYTES  ((size_t)1 << 20)

/* How many are parked is counted in each pass when they are few, else from time to time. */
#define FEW            1000
#define COUNT_PAUSE_MS 10000

METRIC_GAUGE(parked_metric, "expops_events_parked",
             "Events that wait apart from their stream: for another try, behind one that does, or "
             "for the turn "
             "of their account.",
             "stream");

/* The account of an entry: UUID text, or "" when it has none. */
static const char *account_of(const struct stream_entry *entry)
{
	const char *text = stream_text(entry, "account");
	struct uuid account;
	return uuid_parse(text, strlen(text), &account) ? text : "";
}

const char *event_lane(const struct stream_entry *entry)
{
	const char *lane = stream_text(entry, "lane");
	return lane[0] && strlen(lane) <= EVENT_LANE_MAX ? lane : account_of(entry);
}

const bool *event_parked_among(struct request *rq, const struct event_consumer *consumer,
                               const char *const *lanes, size_t count)
{
	bool *is_parked = arena_array(rq->arena, count, sizeof(bool));
	struct buf asked = {.arena = rq->arena};
	buf_puts(&asked, "[");
	for (size_t i = 0; i < count; i++) {
		buf_puts(&asked, i == 0 ? "" : ",");
		json_quote(&asked, lanes[i], strlen(lanes[i]));
	}
	buf_puts(&asked, "]");
	const struct pg_rows *rows = pg_query(rq, EVENT_PARKED_AMONG_SQL, pg_text(consumer->stream),
	                                      pg_text(asked.data));
	for (int row = 0; row < rows->count; row++)
		is_parked[pg_value_int(rows, row)] = true;
	return is_parked;
}

/* Whether the failure counts: the event failed by itself. */
static int failures_of(const struct delivery *delivery)
{
	return delivery && delivery->code && !err_is_transient(delivery->code) ? 1 : 0;
}

/* Append the members of the table's row that are of the entry, as a JSON object. */
static void add_entry(struct buf *out, const struct stream_entry *entry)
{
	const struct {
		const char *name, *text;
	} members[] = {
		{"entry_id", entry->id},
		{"account", account_of(entry)},
		{"event_id", stream_text(entry, "id")},
		{"type", stream_text(entry, "type")},
		{"at", stream_text(entry, "at")},
		{"data", stream_text(entry, "data")},
		{"request_id", stream_text(entry, "request_id")},
		{"lane", event_lane(entry)},
	};
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		buf_printf(out, "%s\"%s\": ", i == 0 ? "{" : ", ", members[i].name);
		json_quote(out, members[i].text, strlen(members[i].text));
	}
	buf_puts(out, "}");
}

void event_park_again(struct request *rq, const char *stream, const struct stream_entry *entry)
{
	struct buf row = {.arena = rq->arena};
	add_entry(&row, entry);
	pg_query(rq, EVENT_PARK_AGAIN_SQL, pg_text(stream), pg_text(row.data));
}

/* Raise when there is no room; of a lane that has too many, the failing one gets no more tries. */
static void require_room(struct request *rq, const struct event_consumer *consumer,
                         const char *lane, bool has_failed)
{
	if (consumer->parked >= PARKED_MAX)
		raise_error(rq, ERR_UNAVAILABLE, "too many events are parked");
	if (has_failed && consumer->parked_lanes >= PARKED_LANES_MAX)
		raise_error(rq, ERR_UNAVAILABLE, "events of too many accounts are parked");
	pg_query(rq, EVENT_PARKED_HURRY_SQL, pg_text(consumer->stream), pg_text(lane),
	         pg_int(PARKED_OF_LANE), pg_int(DELIVERIES_MAX));
}

/* Insert the first of the entries, some INSERT_BYTES; how many those are. */
static size_t insert(struct request *rq, const struct event_consumer *consumer,
                     const struct stream_entry *const *entries, size_t count,
                     const struct delivery *failed, uint64_t pause_ms, const char *handled)
{
	struct buf rows = {.arena = rq->arena};
	size_t taken = 0;
	while (taken < count && rows.length < INSERT_BYTES) {
		buf_puts(&rows, taken == 0 ? "[" : ",");
		add_entry(&rows, entries[taken++]);
	}
	buf_puts(&rows, "]");
	const struct pg_rows *held =
		pg_query(rq, EVENT_PARK_SQL, pg_text(consumer->stream), pg_text(rows.data),
	                 pg_text(failed ? failed->detail : NULL), pg_int(failures_of(failed)),
	                 pg_int((int64_t)pause_ms), pg_text(consumer->tasks->settings.instance),
	                 pg_int(consumer->lease.fence), pg_text(handled));
	if (pg_empty(held))
		raise_error(rq, ERR_UNAVAILABLE, "another process reads the stream now");
	return taken;
}

void event_park(struct request *rq, struct event_consumer *consumer,
                const struct stream_entry *const *entries, size_t count,
                const struct delivery *failed, const char *handled)
{
	const char *lane = event_lane(entries[0]);
	uint64_t pause_ms = failed ? backoff_ms(1, tasks_timing.retry, tasks_timing.retry_max) : 0;
	require_room(rq, consumer, lane, failed);
	size_t done = insert(rq, consumer, entries, count, failed, pause_ms, handled);
	while (done < count)
		done += insert(rq, consumer, entries + done, count - done, NULL, 0, "{}");
	consumer->parked += (int64_t)count;
	consumer->parked_lanes += failed != NULL;
	periodic_wake_in(consumer->retry, pause_ms + 1);
	if (failed)
		log_warn("event not handled, trying again apart",
		         f_text("stream", consumer->stream), f_text("entry", entries[0]->id),
		         f_text("lane", lane), f_text("why", failed->detail));
}

/* The entry as it was in the stream; in the arena. */
static struct stream_entry entry_of(struct request *rq, const struct pg_rows *rows, int row)
{
	static const struct {
		const char *field, *column;
	} FIELDS[] = {
		{"id", "event_id"}, {"type", "type"}, {"account", "account"},
		{"at", "at"},       {"data", "data"}, {"request_id", "request_id"},
		{"lane", "lane"},
	};
	struct redis_value *fields = arena_new_of(rq->arena, struct redis_value);
	fields->type = REDIS_LIST;
	fields->count = 2 * ARRAY_LEN(FIELDS);
	fields->items = arena_array(rq->arena, fields->count, sizeof(*fields->items));
	for (size_t i = 0; i < fields->count; i++) {
		const char *text =
			i % 2 ? pg_get(rows, row, FIELDS[i / 2].column) : FIELDS[i / 2].field;
		fields->items[i] = (struct redis_value){.type = REDIS_TEXT,
		                                        .text = text,
		                                        .length = strlen(text)};
	}
	return (struct stream_entry){.id = pg_get(rows, row, "entry_id"), .fields = fields};
}

/* Try one; whether it is done with: then *next is the next of its lane, if there is one. */
static bool try_again(struct request *rq, struct event_consumer *consumer,
                      const struct pg_rows *rows, int row, const struct pg_rows **ret_next)
{
	const char *id = pg_get(rows, row, "id");
	struct stream_entry entry = entry_of(rq, rows, row);
	struct delivery delivery =
		event_deliver(rq, consumer, &entry, event_timeout_ms(consumer, &entry));
	int64_t failures = pg_get_int(rows, row, "failures") + failures_of(&delivery);
	bool is_dead = err_is_final(delivery.code) ||
	               (failures_of(&delivery) && failures >= DELIVERIES_MAX);
	if (delivery.code != ERR_NONE && !is_dead) {
		uint64_t pause_ms = backoff_ms((unsigned)MAX_OF(failures, 1), tasks_timing.retry,
		                               tasks_timing.retry_max);
		pg_query(rq, EVENT_PARKED_RETRY_SQL, pg_text(id), pg_int(failures),
		         pg_int((int64_t)pause_ms), pg_text(delivery.detail));
		return false;
	}
	if (is_dead)
		event_dead_letter(rq, consumer, &entry, delivery.detail);
	*ret_next = pg_query(rq, EVENT_PARKED_DONE_SQL, pg_text(id), pg_bool(is_dead));
	consumer->parked = MAX_OF(consumer->parked - 1, 0);
	return true;
}

/* The oldest events of the lanes that are due in a pass. */
struct due {
	struct event_consumer *consumer;
	const struct pg_rows *rows;
	int taken; /* rows whose lanes a member handles or has handled */
};

/* A turn of the lane whose oldest is in `row`: its events one after the other. */
static void try_lane(struct request *rq, struct event_consumer *consumer,
                     const struct pg_rows *rows, int row)
{
	uint64_t until_ms = time_monotonic_ms() + TURN_MS;
	for (int i = 0; i < TURN_EVENTS && row < rows->count; i++, row = 0) {
		if (time_monotonic_ms() >= until_ms ||
		    !lease_take(rq, &consumer->lease, consumer->tasks->settings.instance) ||
		    !try_again(rq, consumer, rows, row, &rows))
			return;
	}
}

static void try_lanes(struct request *rq)
{
	struct due *due = rq->user;
	while (due->taken < due->rows->count)
		try_lane(rq, due->consumer, due->rows, due->taken++);
}

/* Remember whose turn was the last; "": the turns begin again. */
static void set_turn(struct event_consumer *consumer, const struct pg_rows *rows)
{
	bool is_end = rows->count < LANES_OF_PASS;
	consumer->has_turn = !is_end;
	snprintf(consumer->turn, sizeof(consumer->turn), "%s",
	         is_end ? "" : pg_get(rows, rows->count - 1, "lane"));
}

/* Try those that are due of the next lanes; whether more may be due. */
static bool try_due(struct request *rq, struct event_consumer *consumer)
{
	bool is_begin = !consumer->has_turn;
	struct due due = {
		.consumer = consumer,
		.rows = pg_query(rq, EVENT_PARKED_DUE_SQL, pg_text(consumer->stream),
	                         pg_text(is_begin ? NULL : consumer->turn), pg_int(LANES_OF_PASS)),
	};
	set_turn(consumer, due.rows);
	for (int i = 0; i < MIN_OF(due.rows->count, LANES_AT_ONCE); i++)
		fiber_spawn(rq, try_lanes, &due);
	fiber_join(rq);
	return due.rows->count > 0 || !is_begin;
}

static void count_parked(struct request *rq, struct event_consumer *consumer)
{
	uint64_t now_ms = time_monotonic_ms();
	if (consumer->parked >= FEW && now_ms < consumer->count_due_ms)
		return;
	consumer->count_due_ms = now_ms + COUNT_PAUSE_MS;
	consumer->parked =
		pg_value_int(pg_query(rq, EVENT_PARKED_COUNT_SQL, pg_text(consumer->stream)), 0);
}

void event_parking_pass(struct request *rq)
{
	struct event_consumer *consumer = periodic_user(rq);
	if (!lease_take(rq, &consumer->lease, consumer->tasks->settings.instance)) {
		metric_set(&parked_metric, consumer->stream, NULL, 0); /* the holder counts */
		periodic_wake_in(consumer->retry, lease_wait_ms(&consumer->lease));
		return;
	}
	bool is_more = try_due(rq, consumer);
	const struct pg_rows *next = pg_query(rq, EVENT_PARKED_NEXT_SQL, pg_text(consumer->stream));
	consumer->parked_lanes = pg_get_int(next, 0, "lanes");
	count_parked(rq, consumer);
	metric_set(&parked_metric, consumer->stream, NULL, (double)consumer->parked);
	if (is_more)
		periodic_wake(consumer->retry);
	else if (pg_get(next, 0, "due_ms"))
		periodic_wake_in(consumer->retry,
		                 (uint64_t)MAX_OF(pg_get_int(next, 0, "due_ms") + 1, 1));
}
