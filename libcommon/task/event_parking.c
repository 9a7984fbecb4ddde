#include "task/event_parking.h"

#include "base/base.h"
#include "crypto/uuid.h"
#include "event.sql.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pacing/backoff.h"
#include "pg/pg.h"

#include <string.h>

#define LANE_BATCH 100 /* of one lane before the others have their turn */
#define LANE_MAX   300

METRIC_GAUGE(parked_metric, "expops_events_parked", "Events that wait for another try, by stream.",
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
	return lane[0] && strlen(lane) <= LANE_MAX ? lane : account_of(entry);
}

static void add_lane(struct parked_lanes *lanes, const char *lane)
{
	require(lanes->count < lanes->room);
	lanes->items[lanes->count++] = lane;
}

struct parked_lanes parked_lanes_load(struct request *rq, const struct event_consumer *consumer,
                                      size_t more)
{
	const struct pg_rows *rows =
		pg_query(rq, EVENT_PARKED_LANES_SQL, pg_text(consumer->stream));
	struct parked_lanes lanes = {.room = (size_t)rows->count + more};
	lanes.items = arena_array(rq->arena, lanes.room + 1, sizeof(*lanes.items));
	for (int row = 0; row < rows->count; row++)
		add_lane(&lanes, pg_get(rows, row, "lane"));
	return lanes;
}

static bool has_lane(const struct parked_lanes *lanes, const char *lane)
{
	for (size_t i = 0; i < lanes->count; i++) {
		if (strcmp(lanes->items[i], lane) == 0)
			return true;
	}
	return false;
}

bool parked_lanes_has(const struct parked_lanes *lanes, const struct stream_entry *entry)
{
	return has_lane(lanes, event_lane(entry));
}

/* Whether the failure counts: the event failed by itself. */
static int failures_of(const struct delivery *failed)
{
	return failed && !err_info(failed->code)->is_transient ? 1 : 0;
}

/* Raise when there is no room; of a lane that has too many, the failing one gets no more tries. */
static void require_room(struct request *rq, const struct event_consumer *consumer,
                         const char *lane)
{
	const struct pg_rows *count =
		pg_query(rq, EVENT_PARKED_COUNT_SQL, pg_text(consumer->stream), pg_text(lane));
	if (pg_get_int(count, 0, "parked") >= PARKED_MAX)
		raise_error(rq, ERR_UNAVAILABLE, "too many events wait for another try");
	if (pg_get_int(count, 0, "of_lane") >= PARKED_OF_LANE)
		pg_query(rq, EVENT_PARKED_HURRY_SQL, pg_text(consumer->stream), pg_text(lane),
		         pg_int(DELIVERIES_MAX));
}

static void insert(struct request *rq, const char *stream, const struct stream_entry *entry,
                   const struct delivery *failed, uint64_t pause_ms)
{
	pg_query(rq, EVENT_PARK_SQL, pg_text(stream), pg_text(entry->id),
	         pg_text(account_of(entry)), pg_text(stream_text(entry, "id")),
	         pg_text(stream_text(entry, "type")), pg_text(stream_text(entry, "at")),
	         pg_text(stream_text(entry, "data")), pg_text(stream_text(entry, "request_id")),
	         pg_text(event_lane(entry)), pg_text(failed ? failed->detail : NULL),
	         pg_int(failures_of(failed)), pg_int((int64_t)pause_ms));
}

void event_park_again(struct request *rq, const char *stream, const struct stream_entry *entry)
{
	insert(rq, stream, entry, NULL, 0);
}

void event_park(struct request *rq, const struct event_consumer *consumer,
                struct parked_lanes *lanes, const struct stream_entry *entry,
                const struct delivery *failed)
{
	const char *lane = event_lane(entry);
	uint64_t pause_ms = failed ? backoff_ms(1, tasks_timing.retry, tasks_timing.retry_max) : 0;
	require_room(rq, consumer, lane);
	insert(rq, consumer->stream, entry, failed, pause_ms);
	if (!has_lane(lanes, lane))
		add_lane(lanes, lane);
	periodic_wake_in(consumer->retry, pause_ms + 1);
	if (failed)
		log_warn(LOG_GROUP_JOBS, "event not handled, trying again apart",
		         f_text("stream", consumer->stream), f_text("entry", entry->id),
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

/* Try one; whether it is done with, so that the next of its lane can be tried. */
static bool try_again(struct request *rq, const struct event_consumer *consumer,
                      const struct pg_rows *rows, int row)
{
	const char *id = pg_get(rows, row, "id");
	struct stream_entry entry = entry_of(rq, rows, row);
	struct delivery delivery =
		event_deliver(rq, consumer, &entry, event_timeout_ms(consumer, &entry));
	int64_t failures = pg_get_int(rows, row, "failures") + failures_of(&delivery);
	bool is_dead = delivery.code != ERR_NONE &&
	               (delivery_is_final(&delivery) || failures >= DELIVERIES_MAX);
	if (delivery.code != ERR_NONE && !is_dead) {
		uint64_t pause_ms = backoff_ms((unsigned)MAX_OF(failures, 1), tasks_timing.retry,
		                               tasks_timing.retry_max);
		pg_query(rq, EVENT_PARKED_RETRY_SQL, pg_text(id), pg_int(failures),
		         pg_int((int64_t)pause_ms), pg_text(delivery.detail));
		return false;
	}
	if (is_dead)
		event_dead_letter(rq, consumer, &entry, delivery.detail);
	pg_query(rq, is_dead ? EVENT_PARKED_GIVE_UP_SQL : EVENT_PARKED_DELETE_SQL, pg_text(id));
	return true;
}

/* Try the events of the lane whose oldest is in `row`, one after the other. */
static void try_lane(struct request *rq, struct event_consumer *consumer,
                     const struct pg_rows *rows, int row)
{
	for (int i = 0; i < LANE_BATCH && row < rows->count; i++, row = 0) {
		const char *lane = pg_get(rows, row, "lane");
		if (!lease_take(rq, &consumer->lease, consumer->tasks->settings.instance) ||
		    !try_again(rq, consumer, rows, row))
			return;
		rows = pg_query(rq, EVENT_PARKED_OLDEST_SQL, pg_text(consumer->stream),
		                pg_text(lane));
	}
}

/* Try those that are due; whether there were any. */
static bool try_due(struct request *rq, struct event_consumer *consumer)
{
	const struct pg_rows *rows = pg_query(rq, EVENT_PARKED_DUE_SQL, pg_text(consumer->stream));
	for (int row = 0; row < rows->count; row++)
		try_lane(rq, consumer, rows, row);
	return rows->count > 0;
}

void event_parking_pass(struct request *rq)
{
	struct event_consumer *consumer = periodic_user(rq);
	if (!lease_take(rq, &consumer->lease, consumer->tasks->settings.instance)) {
		periodic_wake_in(consumer->retry, lease_wait_ms(&consumer->lease));
		return;
	}
	bool is_more = try_due(rq, consumer);
	const struct pg_rows *next = pg_query(rq, EVENT_PARKED_NEXT_SQL, pg_text(consumer->stream));
	metric_set(&parked_metric, consumer->stream, NULL, pg_get_float(next, 0, "parked"));
	if (is_more)
		periodic_wake(consumer->retry);
	else if (pg_get(next, 0, "due_ms"))
		periodic_wake_in(consumer->retry,
		                 (uint64_t)MAX_OF(pg_get_int(next, 0, "due_ms") + 1, 1));
}
