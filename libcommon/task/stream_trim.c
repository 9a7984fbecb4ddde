#include "task/stream_trim.h"

#include "answer_replay.lua.h"
#include "base/base.h"
#include "base/timefmt.h"
#include "forget_accounts.lua.h"
#include "observe/log.h"
#include "outbox.sql.h"
#include "pg/pg.h"
#include "redis/stream.h"
#include "request_replay.lua.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN_MS 300000 /* ids carry the clock of Redis, the outbox that of Postgres */
#define CONSUMER_UNUSED_MS \
	3600000 /* a consumer without entries that has not read for this time is deleted */

int64_t run_in_steps(struct request *rq, const struct pg_call *step)
{
	int64_t changed = 0, rows;
	do {
		rows = pg_query_call(rq, step)->affected;
		changed += rows;
	} while (rows == STEP_ROWS);
	return changed;
}

/* The position of a reader; "0-0": Redis does not know it. */
static const char *position_of(struct request *rq, const char *stream, const char *reader)
{
	const char *key = event_stream_key(rq->arena, stream, "position", reader);
	const struct redis_value *id = redis_words(rq, "GET", key);
	return id->type == REDIS_TEXT ? id->text : "0-0";
}

/* The position of the slowest reader; NULL: the stream has no readers. */
static const char *slowest_position(struct request *rq, const struct event_stream *stream)
{
	const char *slowest = NULL;
	for (int i = 0; i < EVENT_READERS_MAX && stream->readers[i]; i++) {
		const char *position = position_of(rq, stream->name, stream->readers[i]);
		if (!slowest || stream_id_compare(position, slowest) < 0)
			slowest = position;
	}
	return slowest;
}

static const char *id_at(struct request *rq, int64_t ms)
{
	return arena_printf(rq->arena, "%lld-0", (long long)ms);
}

/* The entry at `needed` stays: its reader recognises by it that nothing behind it is missing. */
static void trim(struct request *rq, const char *stream, const char *needed)
{
	const char *young = id_at(rq, time_now_ms() - (int64_t)tasks_timing.keep);
	const char *from = stream_id_compare(needed, young) < 0 ? needed : young;
	const char *const rows[][4] = {
		{"XTRIM", stream, "MINID", from},
		{"XTRIM", stream, "MAXLEN",
	         arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.stream_max)},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t count = stream_command(rq, rows[i], ARRAY_LEN(rows[i]))->integer;
		if (count > 0)
			log_debug("stream trimmed", f_text("stream", stream),
			          f_text("by", rows[i][2]), f_int("entries", count));
	}
}

/* The newest entry, which all have read, would stay until another comes: one that says nothing
 * takes its place. */
static void pass_on(struct request *rq, const char *stream, const char *newest)
{
	const char *const range[] = {"XRANGE", stream, newest, newest};
	struct stream_entries found =
		stream_entries_of(rq, stream_command(rq, range, ARRAY_LEN(range)));
	bool is_old = strtoll(newest, NULL, 10) < time_now_ms() - (int64_t)tasks_timing.keep;
	const char *type = found.count ? stream_field(&found.items[0], "type") : NULL;
	if (is_old && type && strcmp(type, "passed") != 0)
		pg_query(rq, OUTBOX_PASS_SQL, pg_text(stream));
}

static void trim_own(struct request *rq, const struct event_stream *stream)
{
	const char *needed = slowest_position(rq, stream);
	if (!needed)
		needed = id_at(rq, time_now_ms());
	trim(rq, stream->name, needed);
	if (strcmp(stream_newest_id(rq, stream->name), needed) == 0)
		pass_on(rq, stream->name, needed);
	run_in_steps(rq, &PG_CALL(OUTBOX_DELETE_OLD_SQL, pg_text(stream->name),
	                          pg_time(strtoll(needed, NULL, 10)), pg_int(OUTBOX_DAYS),
	                          pg_int(STEP_ROWS)));
}

/* Dead letters have no readers to wait for. Those of failed tasks were a stream in the previous
 * release. */
static void forget_dead_letters(struct request *rq, const char *service)
{
	enum { FIXED = 4 };
	const struct pg_rows *accounts = pg_query(rq, OUTBOX_DELETED_ACCOUNTS_SQL);
	size_t count = FIXED + (size_t)accounts->count;
	const char **argv = arena_array(rq->arena, count, sizeof(*argv));
	const char *const fixed[FIXED] = {"EVAL", FORGET_ACCOUNTS_LUA, "1",
	                                  arena_printf(rq->arena, "events.dead.%s", service)};
	memcpy(argv, fixed, sizeof(fixed));
	for (int row = 0; row < accounts->count; row++)
		argv[FIXED + row] = pg_get(accounts, row, "id");
	if (!pg_empty(accounts))
		stream_command(rq, argv, count);
	redis_words(rq, "DEL", arena_printf(rq->arena, "jobs.dead.%s", service));
}

/* Consumers of the jobs have the names of processes; each restart leaves one behind. */
static void drop_unused_consumers(struct request *rq, const struct tasks *tasks)
{
	const char *group = tasks->settings.service;
	const char *const info[] = {"XINFO", "CONSUMERS", tasks->jobs_stream, group};
	const struct redis_value *consumers = stream_command_if_exists(rq, info, ARRAY_LEN(info));
	for (size_t i = 0; consumers && i < consumers->count; i++) {
		const struct redis_value *consumer = &consumers->items[i];
		if (stream_member(consumer, "pending")->integer > 0 ||
		    stream_member(consumer, "idle")->integer < CONSUMER_UNUSED_MS)
			continue;
		const char *const drop[] = {"XGROUP", "DELCONSUMER", tasks->jobs_stream, group,
		                            stream_member(consumer, "name")->text};
		stream_command_if_exists(rq, drop, ARRAY_LEN(drop));
	}
}

void stream_trim_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	for (const struct event_stream *stream = tasks->streams; stream->name; stream++) {
		if (strcmp(stream->writer, tasks->settings.service) == 0)
			trim_own(rq, stream);
	}
	forget_dead_letters(rq, tasks->settings.service);
	drop_unused_consumers(rq, tasks);
	run_in_steps(rq, &PG_CALL(EVENT_SETTLED_DELETE_OLD_SQL, pg_int(EVENT_SETTLED_DAYS),
	                          pg_int(STEP_ROWS)));
}

/* --- Replay ----------------------------------------------------------------------------------- */

void replay_request(struct request *rq, const struct tasks *tasks, const char *stream,
                    const char *entry, int64_t now_ms)
{
	int64_t from_ms = strtoll(entry, NULL, 10) - MARGIN_MS;
	log_warn("the stream does not reach back to the last event, asking for a replay",
	         f_text("stream", stream), f_text("position", entry));
	redis_words(rq, "EVAL", REQUEST_REPLAY_LUA, "1",
	            event_stream_key(rq->arena, stream, "replay", tasks->settings.service),
	            arena_printf(rq->arena, "%lld", (long long)from_ms),
	            arena_printf(rq->arena, "%lld", (long long)now_ms));
}

static void serve(struct request *rq, const char *stream, const char *reader)
{
	const char *key = event_stream_key(rq->arena, stream, "replay", reader);
	const struct redis_value *request = redis_words(rq, "GET", key);
	if (request->type != REDIS_TEXT)
		return;
	char *end;
	int64_t from_ms = strtoll(request->text, &end, 10), to_ms = strtoll(end, NULL, 10);
	int64_t count =
		run_in_steps(rq, &PG_CALL(OUTBOX_SEND_STREAM_AGAIN_SQL, pg_text(stream),
	                                  pg_time(from_ms), pg_time(to_ms), pg_int(STEP_ROWS)));
	redis_words(rq, "EVAL", ANSWER_REPLAY_LUA, "1", key, request->text);
	log_info("a reader asked for a replay", f_text("stream", stream), f_text("reader", reader),
	         f_int("rows", count));
}

void replay_serve(struct request *rq, struct tasks *tasks)
{
	for (const struct event_stream *stream = tasks->streams; stream->name; stream++) {
		if (strcmp(stream->writer, tasks->settings.service) != 0)
			continue;
		for (int i = 0; i < EVENT_READERS_MAX && stream->readers[i]; i++)
			serve(rq, stream->name, stream->readers[i]);
	}
}
