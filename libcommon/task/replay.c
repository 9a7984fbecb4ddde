#include "task/replay.h"

#include "base/base.h"
#include "observe/log.h"
#include "outbox.sql.h"
#include "pg/pg.h"
#include "task/stream.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN_MS 300000 /* ids carry the clock of Redis, the outbox that of Postgres */

/* KEYS: key. ARGV: from, to. Of several requests the earliest `from` and the latest `to` are
 * kept. */
static const char REQUEST[] =
	"local known = redis.call('GET', KEYS[1]) "
	"local from, to = ARGV[1], ARGV[2] "
	"if known then "
	"  local known_from, known_to = string.match(known, '^(%-?%d+) (%-?%d+)$') "
	"  if known_from and tonumber(known_from) < tonumber(from) then from = known_from end "
	"  if known_to and tonumber(known_to) > tonumber(to) then to = known_to end "
	"end "
	"return redis.call('SET', KEYS[1], from .. ' ' .. to)";

void replay_request(struct request *rq, const struct event_consumer *consumer, const char *entry,
                    int64_t now_ms)
{
	const char *reader = consumer->tasks->settings.service;
	int64_t from_ms = strtoll(entry, NULL, 10) - MARGIN_MS;
	log_warn(LOG_GROUP_JOBS,
	         "the stream does not reach back to the last event, asking for a replay",
	         f_text("stream", consumer->stream), f_text("position", entry));
	redis_words(rq, "EVAL", REQUEST, "1",
	            event_stream_key(rq->arena, consumer->stream, "replay", reader),
	            arena_printf(rq->arena, "%lld", (long long)from_ms),
	            arena_printf(rq->arena, "%lld", (long long)now_ms));
}

/* KEYS: key. ARGV: the request that was answered. A newer one stays. */
static const char ANSWERED[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1";

static void serve(struct request *rq, const char *stream, const char *reader)
{
	const char *key = event_stream_key(rq->arena, stream, "replay", reader);
	const struct redis_value *request = redis_words(rq, "GET", key);
	if (request->type != REDIS_TEXT)
		return;
	char *end;
	int64_t from_ms = strtoll(request->text, &end, 10), to_ms = strtoll(end, NULL, 10);
	const struct pg_rows *rows = pg_query(rq, OUTBOX_SEND_STREAM_AGAIN_SQL, pg_text(stream),
	                                      pg_time(from_ms), pg_time(to_ms));
	redis_words(rq, "EVAL", ANSWERED, "1", key, request->text);
	log_info(LOG_GROUP_JOBS, "a reader asked for a replay", f_text("stream", stream),
	         f_text("reader", reader), f_int("rows", rows->affected));
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
