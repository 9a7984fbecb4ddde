#include "task/stream_trim.h"

#include "base/base.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "outbox.sql.h"
#include "pg/pg.h"
#include "task/stream.h"

#include <stdlib.h>
#include <string.h>

#define CONSUMER_UNUSED_MS \
	3600000 /* a consumer without entries that has not read for this time is deleted */

void stream_trim_add(struct tasks *tasks, const char *stream)
{
	for (size_t i = 0; i < tasks->streams_count; i++) {
		if (strcmp(tasks->streams[i], stream) == 0)
			return;
	}
	if (tasks->streams_count < TASKS_STREAMS_MAX) {
		tasks->streams[tasks->streams_count] = strdup(stream);
		require(tasks->streams[tasks->streams_count]);
		tasks->streams_count++;
	}
}

/* A member of a `[name, value, ...]` list, as in replies to XINFO; NULL: it has no such member. */
static const struct redis_value *member(const struct redis_value *list, const char *name)
{
	for (size_t i = 0; i + 1 < list->count; i += 2) {
		if (strcmp(list->items[i].text, name) == 0)
			return &list->items[i + 1];
	}
	return NULL;
}

/* The oldest entry that the group still needs: its oldest unacknowledged one, else the last that was
 * delivered. */
static const char *needed_by(struct request *rq, const char *stream,
                             const struct redis_value *group)
{
	const char *const argv[] = {"XPENDING", stream, member(group, "name")->text};
	const struct redis_value *pending = stream_command(rq, argv, ARRAY_LEN(argv));
	if (pending->type == REDIS_LIST && pending->count == 4 &&
	    pending->items[1].type == REDIS_TEXT)
		return pending->items[1].text;
	return member(group, "last-delivered-id")->text;
}

static void trim(struct request *rq, const char *stream)
{
	const char *const info[] = {"XINFO", "GROUPS", stream};
	const struct redis_value *groups = stream_command(rq, info, ARRAY_LEN(info));
	if (groups->type != REDIS_LIST) /* no such stream */
		return;
	const char *oldest = arena_printf(rq->arena, "%lld-0",
	                                  (long long)(time_now_ms() - (int64_t)tasks_timing.keep));
	for (size_t i = 0; i < groups->count; i++) {
		const char *needed = needed_by(rq, stream, &groups->items[i]);
		if (stream_id_compare(needed, oldest) < 0)
			oldest = needed;
	}
	const char *const argv[] = {"XTRIM", stream, "MINID", oldest};
	const struct redis_value *reply = stream_command(rq, argv, ARRAY_LEN(argv));
	if (reply->integer > 0)
		log_debug(LOG_GROUP_JOBS, "stream trimmed", f_text("stream", stream),
		          f_int("entries", reply->integer));
}

/* Consumers have the names of processes; each restart leaves one behind. */
static void drop_unused_consumers(struct request *rq, struct tasks *tasks, const char *stream)
{
	const char *const info[] = {"XINFO", "CONSUMERS", stream, tasks->settings.service};
	const struct redis_value *consumers = stream_command(rq, info, ARRAY_LEN(info));
	for (size_t i = 0; consumers->type == REDIS_LIST && i < consumers->count; i++) {
		const struct redis_value *consumer = &consumers->items[i];
		if (member(consumer, "pending")->integer > 0 ||
		    member(consumer, "idle")->integer < CONSUMER_UNUSED_MS)
			continue;
		const char *const drop[] = {"XGROUP", "DELCONSUMER", stream,
		                            tasks->settings.service,
		                            member(consumer, "name")->text};
		stream_command(rq, drop, ARRAY_LEN(drop));
	}
}

void stream_trim_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	for (size_t i = 0; i < tasks->streams_count; i++) {
		trim(rq, tasks->streams[i]);
		drop_unused_consumers(rq, tasks, tasks->streams[i]);
	}
	drop_unused_consumers(rq, tasks, tasks->jobs_stream);
	pg_query(rq, OUTBOX_DELETE_OLD_SQL);
	pg_query(rq, EVENT_SEEN_DELETE_OLD_SQL);
}
