#include "task/events.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "event.sql.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "task/event_parking.h"
#include "task/stream_trim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASS_TIMEOUT_MS   3600000
#define INLINE_TIMEOUT_MS 5000 /* of the first try, which delays the events behind it */
#define BATCH             64
#define LANE_SHARE        4 /* of a late batch */
/* the background has few connections: more lanes would only wait for one */
#define LANES_AT_ONCE 4
#define HASH_BYTES    16
#define NO_ENTRY      "0-0" /* before the first entry of a stream */

METRIC_GAUGE(lag_metric, "expops_events_lag_seconds",
             "How long the oldest event of a stream that the service has not read yet has waited.",
             "stream");

static bool hold_lease(struct request *rq, struct event_consumer *consumer)
{
	return lease_take(rq, &consumer->lease, consumer->tasks->settings.instance);
}

static void set_position(struct event_consumer *consumer, const char *id)
{
	snprintf(consumer->position, sizeof(consumer->position), "%s", id);
}

/* Ask the writer for the events behind the position that the stream may have lost. */
static void ask_for_replay(struct request *rq, const struct event_consumer *consumer)
{
	const struct pg_rows *rows =
		pg_query(rq, EVENT_POSITION_GET_SQL, pg_text(consumer->stream));
	replay_request(rq, consumer->tasks, consumer->stream, consumer->position,
	               pg_get_int(rows, 0, "now_ms"));
}

/* Whether entries behind the position may be missing: the one at the position stays in the stream
 * until all readers are past it, unless the stream was cut or lost. To be asked after a read: what
 * is cut later was read. */
static bool may_have_gap(struct request *rq, const struct event_consumer *consumer)
{
	return strcmp(consumer->position, NO_ENTRY) != 0 &&
	       !stream_has_entry(rq, consumer->stream, consumer->position);
}

/* Read the position, once for each time that the lease is taken. Entries may have been cut since it
 * was held; where nothing follows them, no read tells so. */
static void load_position(struct request *rq, struct event_consumer *consumer)
{
	if (consumer->position[0] && consumer->position_fence == consumer->lease.fence)
		return;
	const struct pg_rows *rows =
		pg_query(rq, EVENT_POSITION_GET_SQL, pg_text(consumer->stream));
	const char *entry = pg_get(rows, 0, "entry_id");
	set_position(consumer, entry ? entry : NO_ENTRY);
	if (may_have_gap(rq, consumer))
		ask_for_replay(rq, consumer);
	consumer->position_fence = consumer->lease.fence;
}

/* A stream whose newest entry is older than the position was lost: all that it has is new. */
static void rewind_lost_stream(struct request *rq, struct event_consumer *consumer,
                               const char *newest)
{
	if (stream_id_compare(newest, consumer->position) >= 0)
		return;
	log_warn("redis lost a stream, reading it from its beginning",
	         f_text("stream", consumer->stream), f_text("position", consumer->position));
	ask_for_replay(rq, consumer);
	set_position(consumer, NO_ENTRY);
}

static struct stream_entries read_entries(struct request *rq, const struct event_consumer *consumer)
{
	const char *const argv[] = {
		"XREAD",
		"COUNT",
		arena_printf(rq->arena, "%d", BATCH),
		"BLOCK",
		arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.block),
		"STREAMS",
		consumer->stream,
		arena_strdup(rq->arena, consumer->position),
	};
	struct redis_value *reply;
	enum err_code code =
		redis_blocking_try(rq, consumer->connection, &reply, argv, ARRAY_LEN(argv));
	if (code != ERR_NONE)
		raise_error(rq, code, "the events cannot be read");
	stream_raise_error(rq, reply);
	return stream_entries_read(rq, reply);
}

/* The entries of a lane, in their order. */
struct batch_lane {
	const char *name;
	size_t first, last; /* indices into the entries */
	bool is_parked;     /* it has parked events, so its entries are parked behind them */
};

/* Entries that are handled before the next position is saved: those of a lane one after the other,
 * some lanes at once. */
struct batch {
	struct event_consumer *consumer;
	const struct stream_entries *entries;
	size_t *next; /* the next entry of the same lane, after each that is not the last */
	/* Of each entry: it is not settled with the position. It was given up; or it was parked,
	 * which has settled it, and may have been given up since. */
	bool *is_left_out;
	struct batch_lane *lanes;
	size_t lane_count;
	size_t taken_count; /* lanes that a member handles or has handled */
	size_t lane_share;  /* entries of a lane that are handled now */
};

static void require_lease(struct request *rq, struct event_consumer *consumer)
{
	if (!hold_lease(rq, consumer))
		raise_error(rq, ERR_UNAVAILABLE, "another process reads the stream now");
}

/* The hashes of the events' ids, as a Postgres array of uuid, with NULL in place of those that are
 * left out (`is_left_out` may be NULL). */
static const char *hashes_of(struct request *rq, const struct stream_entries *entries,
                             const bool *is_left_out)
{
	struct buf text = {.arena = rq->arena};
	for (size_t i = 0; i < entries->count; i++) {
		const char *id = stream_text(&entries->items[i], "id");
		uint8_t hash[SHA256_LEN];
		char hex[2 * HASH_BYTES + 1];
		sha256(id, strlen(id), hash);
		hex_encode(hash, HASH_BYTES, hex);
		bool is_out = is_left_out && is_left_out[i];
		buf_printf(&text, "%c%s", i == 0 ? '{' : ',', is_out ? "NULL" : hex);
	}
	buf_puts(&text, entries->count == 0 ? "{}" : "}");
	return text.data;
}

/* Which of the entries are events that were handled before: the writer has sent them again. */
static const bool *known_before(struct request *rq, const struct event_consumer *consumer,
                                const struct stream_entries *entries, const char *hashes)
{
	bool *is_settled = arena_array(rq->arena, entries->count, sizeof(bool));
	const struct pg_rows *rows =
		pg_query(rq, EVENT_SETTLED_AMONG_SQL, pg_text(consumer->stream), pg_text(hashes));
	for (int row = 0; row < rows->count; row++)
		is_settled[pg_value_int(rows, row)] = true;
	return is_settled;
}

static void save_position(struct request *rq, struct event_consumer *consumer, const char *id,
                          const char *settled_hashes)
{
	const struct pg_rows *saved =
		pg_query(rq, EVENT_POSITION_SAVE_SQL, pg_text(consumer->stream), pg_text(id),
	                 pg_text(consumer->tasks->settings.instance), pg_int(consumer->lease.fence),
	                 pg_text(settled_hashes));
	if (saved->affected == 0)
		raise_error(rq, ERR_UNAVAILABLE, "another process reads the stream now");
	set_position(consumer, id);
}

static void batch_add(struct batch *batch, size_t index)
{
	const char *name = event_lane(&batch->entries->items[index]);
	for (size_t i = 0; i < batch->lane_count; i++) {
		struct batch_lane *lane = &batch->lanes[i];
		if (strcmp(lane->name, name) == 0) {
			batch->next[lane->last] = index;
			lane->last = index;
			return;
		}
	}
	batch->lanes[batch->lane_count++] = (struct batch_lane){name, index, index, false};
}

static void find_parked_lanes(struct request *rq, struct batch *batch)
{
	const char **names = arena_array(rq->arena, batch->lane_count, sizeof(*names));
	for (size_t i = 0; i < batch->lane_count; i++)
		names[i] = batch->lanes[i].name;
	const bool *is_parked = event_parked_among(rq, batch->consumer, names, batch->lane_count);
	for (size_t i = 0; i < batch->lane_count; i++)
		batch->lanes[i].is_parked = is_parked[i];
}

/* Whether others have waited too long behind these entries, of which more follow. `newest`: the
 * newest entry of the stream before they were read. */
static bool is_late(const struct stream_entries *entries, const char *newest)
{
	int64_t waited_ms = strtoll(newest, NULL, 10) - strtoll(entries->items[0].id, NULL, 10);
	return entries->count == BATCH && waited_ms >= (int64_t)tasks_timing.late;
}

/* Those of the entries that a handler is for. The others are done with once they are read. */
static struct stream_entries handled_among(struct request *rq,
                                           const struct event_consumer *consumer,
                                           const struct stream_entries *entries)
{
	struct stream_entries handled = {
		.items = arena_array(rq->arena, entries->count, sizeof(*handled.items)),
	};
	for (size_t i = 0; i < entries->count; i++) {
		if (event_is_handled(consumer, &entries->items[i]))
			handled.items[handled.count++] = entries->items[i];
	}
	return handled;
}

/* Without the entries that were handled before. */
static struct batch batch_of(struct request *rq, struct event_consumer *consumer,
                             const struct stream_entries *entries, size_t lane_share)
{
	const bool *is_settled = known_before(rq, consumer, entries, hashes_of(rq, entries, NULL));
	struct batch batch = {
		.consumer = consumer,
		.entries = entries,
		.next = arena_array(rq->arena, entries->count, sizeof(*batch.next)),
		.is_left_out = arena_array(rq->arena, entries->count, sizeof(bool)),
		.lanes = arena_array(rq->arena, entries->count, sizeof(*batch.lanes)),
		.lane_share = lane_share,
	};
	for (size_t i = 0; i < entries->count; i++) {
		if (!is_settled[i])
			batch_add(&batch, i);
	}
	find_parked_lanes(rq, &batch);
	return batch;
}

/* The hashes of the events of the lane before the one at `until` that were handled. */
static const char *handled_before(struct request *rq, const struct batch *batch,
                                  const struct batch_lane *lane, size_t until)
{
	struct stream_entry items[BATCH];
	struct stream_entries handled = {.items = items};
	for (size_t i = lane->first; i != until; i = batch->next[i]) {
		if (!batch->is_left_out[i])
			items[handled.count++] = batch->entries->items[i];
	}
	return hashes_of(rq, &handled, NULL);
}

/* Park the entries of the lane from the one at `from` on; `failed`: how its delivery ended, or
 * NULL. */
static void park_rest(struct request *rq, struct batch *batch, const struct batch_lane *lane,
                      size_t from, const struct delivery *failed)
{
	const struct stream_entry *rest[BATCH];
	const char *handled = handled_before(rq, batch, lane, from);
	size_t count = 0;
	for (size_t i = from;; i = batch->next[i]) {
		rest[count++] = &batch->entries->items[i];
		batch->is_left_out[i] = true;
		if (i == lane->last)
			break;
	}
	event_park(rq, batch->consumer, rest, count, failed, handled);
}

/* Handle the entries of a lane until one fails or the lane has had its share; park the rest. */
static void handle_lane(struct request *rq, struct batch *batch, const struct batch_lane *lane)
{
	size_t share = lane->is_parked ? 0 : batch->lane_share;
	for (size_t i = lane->first;; i = batch->next[i]) {
		const struct stream_entry *entry = &batch->entries->items[i];
		require_lease(rq, batch->consumer);
		if (share-- == 0) {
			park_rest(rq, batch, lane, i, NULL);
			return;
		}
		struct delivery delivery =
			event_deliver(rq, batch->consumer, entry, INLINE_TIMEOUT_MS);
		batch->is_left_out[i] = err_is_final(delivery.code);
		if (batch->is_left_out[i]) {
			event_dead_letter(rq, batch->consumer, entry, delivery.detail);
		} else if (delivery.code) {
			park_rest(rq, batch, lane, i, &delivery);
			return;
		}
		if (i == lane->last)
			return;
	}
}

static void handle_lanes(struct request *rq)
{
	struct batch *batch = rq->user;
	while (batch->taken_count < batch->lane_count)
		handle_lane(rq, batch, &batch->lanes[batch->taken_count++]);
}

static void handle_entries(struct request *rq, struct event_consumer *consumer,
                           const struct stream_entries *entries, const char *newest)
{
	if (entries->count == 0)
		return;
	bool has_gap = may_have_gap(rq, consumer);
	struct stream_entries handled = handled_among(rq, consumer, entries);
	const char *hashes = "{}";
	if (handled.count > 0) {
		struct batch batch = batch_of(rq, consumer, &handled,
		                              is_late(entries, newest) ? LANE_SHARE : BATCH);
		for (size_t i = 0; i < MIN_OF(batch.lane_count, LANES_AT_ONCE); i++)
			fiber_spawn(rq, handle_lanes, &batch);
		fiber_join(rq);
		hashes = hashes_of(rq, &handled, batch.is_left_out);
	}
	if (has_gap)
		ask_for_replay(rq, consumer);
	save_position(rq, consumer, entries->items[entries->count - 1].id, hashes);
}

/* For the trimmer of the writer. */
static void publish_position(struct request *rq, const struct event_consumer *consumer)
{
	const char *key = event_stream_key(rq->arena, consumer->stream, "position",
	                                   consumer->tasks->settings.service);
	redis_words(rq, "SET", key, arena_strdup(rq->arena, consumer->position));
}

static void reader_pass(struct request *rq)
{
	struct event_consumer *consumer = periodic_user(rq);
	if (!hold_lease(rq, consumer)) {
		periodic_wake_in(consumer->reader, lease_wait_ms(&consumer->lease));
		return;
	}
	load_position(rq, consumer);
	const char *newest = stream_newest_id(rq, consumer->stream);
	rewind_lost_stream(rq, consumer, newest);
	struct stream_entries entries = read_entries(rq, consumer);
	handle_entries(rq, consumer, &entries, newest);
	publish_position(rq, consumer);
	periodic_wake(consumer->reader);
}

static bool has_consumer(const struct tasks *tasks, const struct event_handler *handler)
{
	const struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry) {
		if (strcmp(consumer->stream, handler->stream) == 0)
			return true;
	}
	return false;
}

static void consumer_start(struct tasks *tasks, const struct event_handler *handler)
{
	struct event_consumer *consumer = calloc(1, sizeof(*consumer));
	require(consumer);
	/* Without its name in the table, entries would be trimmed before they are read. */
	require(event_stream_has_reader(tasks->streams, handler->stream, tasks->settings.service));
	consumer->tasks = tasks;
	consumer->stream = handler->stream;
	consumer->lease.name = handler->stream;
	consumer->connection = redis_blocking_new(tasks->worker->redis);
	consumer->reader = periodic_new(tasks->worker, handler->stream, reader_pass, consumer,
	                                PERIODIC_WHEN_WOKEN, PASS_TIMEOUT_MS);
	consumer->retry = periodic_new(tasks->worker, handler->stream, event_parking_pass, consumer,
	                               PERIODIC_WHEN_WOKEN, PASS_TIMEOUT_MS);
	SLIST_INSERT_HEAD(&tasks->consumers, consumer, entry);
	periodic_wake(consumer->reader);
	periodic_wake(consumer->retry);
}

void events_start(struct tasks *tasks)
{
	for (const struct event_handler *handler = tasks->settings.events;
	     handler && handler->stream; handler++) {
		if (!has_consumer(tasks, handler))
			consumer_start(tasks, handler);
	}
}

void events_retry(struct tasks *tasks)
{
	struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry)
		periodic_wake(consumer->retry);
}

void events_stop(struct tasks *tasks)
{
	struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry) {
		periodic_stop(consumer->reader);
		periodic_stop(consumer->retry);
	}
}

bool events_are_idle(const struct tasks *tasks)
{
	const struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry) {
		if (!periodic_is_idle(consumer->reader) || !periodic_is_idle(consumer->retry))
			return false;
	}
	return true;
}

void events_free(struct tasks *tasks)
{
	struct event_consumer *consumer;
	while ((consumer = SLIST_FIRST(&tasks->consumers))) {
		SLIST_REMOVE_HEAD(&tasks->consumers, entry);
		periodic_free(consumer->reader);
		periodic_free(consumer->retry);
		redis_blocking_free(consumer->connection);
		free(consumer);
	}
}

/* Age of the first entry behind the position, by the time in its id; 0: there is none. */
static double lag_s(struct request *rq, const char *stream)
{
	const struct pg_rows *rows = pg_query(rq, EVENT_POSITION_GET_SQL, pg_text(stream));
	const char *position = pg_get(rows, 0, "entry_id");
	const char *const argv[] = {
		"XRANGE", stream,  position ? arena_printf(rq->arena, "(%s", position) : "-",
		"+",      "COUNT", "1"};
	struct stream_entries unread =
		stream_entries_of(rq, stream_command(rq, argv, ARRAY_LEN(argv)));
	if (unread.count == 0)
		return 0;
	int64_t waited_ms = time_now_ms() - strtoll(unread.items[0].id, NULL, 10);
	return (double)MAX_OF(waited_ms, 0) / 1000;
}

void events_measure(struct request *rq, const struct tasks *tasks)
{
	const struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry)
		metric_set(&lag_metric, consumer->stream, NULL, lag_s(rq, consumer->stream));
}

const char *event_require_text(struct request *rq, const struct event *event, const char *name)
{
	const char *text = json_get_text(event->data, name);
	if (!text)
		raise_error(rq, ERR_INVALID, "the event has no %s", name);
	return text;
}
