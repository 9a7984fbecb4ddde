#include "task/event_consumer.h"

#include "base/backoff.h"
#include "base/base.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "loop/wait.h"
#include "task/event_deliver.h"
#include "task/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH          16
#define BATCH_TEXT     "16"
#define DELIVERIES_MAX 10
#define DEAD_STREAM    "events.dead"
#define DEAD_KEPT      "10000"

static struct redis_value *command(struct request *rq, const char *const *argv, size_t argc)
{
	struct redis_value *reply;
	enum err_code code = redis_try(rq, &reply, argv, argc);
	if (code != ERR_NONE)
		raise_error(rq, code, "the message store is away");
	return reply;
}

/* A copy for people to look at. Raises, so that the entry stays until there is one. */
static void bury(struct request *rq, const struct consumer *consumer,
                 const struct stream_entry *entry, const char *why)
{
	size_t count = entry->fields ? entry->fields->count : 0;
	const char **argv = arena_array(rq->arena, count + 12, sizeof(*argv));
	const char *const head[] = {"XADD",    DEAD_STREAM,
	                            "MAXLEN",  "~",
	                            DEAD_KEPT, "*",
	                            "stream",  consumer->stream,
	                            "service", consumer->tasks->settings.service,
	                            "error",   why};
	memcpy(argv, head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		argv[ARRAY_LEN(head) + i] = entry->fields->items[i].text;
	redis_command(rq, argv, ARRAY_LEN(head) + count);
	log_error(LOG_GROUP_JOBS, "event given up", f_text("stream", consumer->stream),
	          f_text("entry", entry->id), f_text("why", why));
}

/* Tell the group that the rest of the batch is still being worked on. */
static void touch(struct request *rq, const struct consumer *consumer,
                  const struct stream_entries *entries, size_t from)
{
	const char **argv = arena_array(rq->arena, entries->count + 6, sizeof(*argv));
	const char *const head[] = {"XCLAIM", consumer->stream, consumer->tasks->settings.service,
	                            consumer->tasks->settings.instance, "0"};
	struct redis_value *reply;
	size_t argc = ARRAY_LEN(head);
	if (consumer->is_broadcast)
		return;
	memcpy(argv, head, sizeof(head));
	for (size_t i = from; i < entries->count; i++)
		argv[argc++] = entries->items[i].id;
	argv[argc++] = "JUSTID";
	if (redis_try(rq, &reply, argv, argc) != ERR_NONE)
		log_debug(LOG_GROUP_JOBS, "entries not touched");
}

/* What the handler needs is away: that is nobody's fault, and passes. */
static bool is_passing(enum err_code code)
{
	return code == ERR_UNAVAILABLE || code == ERR_UNCERTAIN;
}

static void acknowledge(struct request *rq, struct consumer *consumer, const char *id)
{
	if (consumer->is_broadcast)
		snprintf(consumer->last_id, sizeof(consumer->last_id), "%s", id);
	else
		redis_words(rq, "XACK", consumer->stream, consumer->tasks->settings.service, id);
}

/* Deliver until it is handled or given up. */
static void settle(struct request *rq, struct consumer *consumer,
                   const struct stream_entries *entries, size_t index, int deliveries)
{
	const struct stream_entry *entry = &entries->items[index];
	for (unsigned tries = 1;; tries++) {
		struct delivery delivery = event_deliver(rq, consumer, entry);
		if (delivery.code == ERR_NONE)
			break;
		if (!is_passing(delivery.code) && ++deliveries >= DELIVERIES_MAX) {
			if (!consumer->is_broadcast)
				bury(rq, consumer, entry, delivery.detail);
			break;
		}
		if (tries == 1)
			log_warn(LOG_GROUP_JOBS, "event not handled, trying again",
			         f_text("stream", consumer->stream), f_text("entry", entry->id),
			         f_text("why", delivery.detail));
		fiber_sleep(rq, backoff_ms(tries, tasks_timing.retry, tasks_timing.retry_max));
		touch(rq, consumer, entries, index);
	}
	acknowledge(rq, consumer, entry->id);
}

static void settle_all(struct request *rq, struct consumer *consumer,
                       const struct stream_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		settle(rq, consumer, entries, i, 0);
}

/* XREADGROUP from `id`: `>` new entries, `0` those of this consumer that are not acknowledged. */
static struct stream_entries read_group(struct request *rq, struct consumer *consumer,
                                        const char *id)
{
	struct stream_entries entries;
	consumer->has_group = stream_read_group(rq, consumer->connection, consumer->stream,
	                                        consumer->tasks->settings.service,
	                                        consumer->tasks->settings.instance, id, BATCH,
	                                        tasks_timing.block, &entries);
	return entries;
}

/* `[[id, consumer, idle, deliveries], ...]` of entries whose consumer gives no sign any more. Each
 * is taken over by itself: the number of its deliveries goes with it. */
static void take_stale(struct request *rq, struct consumer *consumer)
{
	const char *idle = arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.stale);
	const char *service = consumer->tasks->settings.service;
	const char *const list[] = {"XPENDING", consumer->stream, service, "IDLE", idle, "-",
	                            "+",        BATCH_TEXT};
	const struct redis_value *stale = command(rq, list, ARRAY_LEN(list));
	for (size_t i = 0; stale->type == REDIS_LIST && i < stale->count; i++) {
		const struct redis_value *row = &stale->items[i];
		const char *const claim[] = {"XCLAIM", consumer->stream,
		                             service,  consumer->tasks->settings.instance,
		                             idle,     row->items[0].text};
		struct stream_entries entries =
			stream_entries_of(rq, command(rq, claim, ARRAY_LEN(claim)));
		if (entries.count == 1)
			settle(rq, consumer, &entries, 0, (int)row->items[3].integer - 1);
	}
}

static void read_as_group(struct request *rq, struct consumer *consumer)
{
	if (!consumer->has_group)
		stream_make_group(rq, consumer->stream, consumer->tasks->settings.service);
	struct stream_entries entries;
	if (consumer->has_leftovers) {
		entries = read_group(rq, consumer, "0");
		settle_all(rq, consumer, &entries);
		consumer->has_leftovers = entries.count > 0;
		return;
	}
	uint64_t now_ms = time_monotonic_ms();
	if (now_ms >= consumer->stale_check_ms) {
		consumer->stale_check_ms = now_ms + spread_ms(tasks_timing.stale);
		take_stale(rq, consumer);
	}
	consumer->has_leftovers = true; /* until all are settled */
	entries = read_group(rq, consumer, ">");
	settle_all(rq, consumer, &entries);
	consumer->has_leftovers = false;
}

/* The newest entry that is there when the process starts: it reads what comes after. */
static void find_end(struct request *rq, struct consumer *consumer)
{
	const char *const argv[] = {"XREVRANGE", consumer->stream, "+", "-", "COUNT", "1"};
	struct stream_entries entries = stream_entries_of(rq, command(rq, argv, ARRAY_LEN(argv)));
	snprintf(consumer->last_id, sizeof(consumer->last_id), "%s",
	         entries.count ? entries.items[0].id : "0-0");
}

static void read_as_broadcast(struct request *rq, struct consumer *consumer)
{
	if (!consumer->last_id[0])
		find_end(rq, consumer);
	const char *const argv[] = {
		"XREAD",
		"COUNT",
		BATCH_TEXT,
		"BLOCK",
		arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.block),
		"STREAMS",
		consumer->stream,
		arena_strdup(rq->arena, consumer->last_id),
	};
	struct redis_value *reply;
	enum err_code code =
		redis_blocking_try(rq, consumer->connection, &reply, argv, ARRAY_LEN(argv));
	if (code != ERR_NONE)
		raise_error(rq, code, "no events can be read");
	struct stream_entries entries = stream_entries_read(rq, reply);
	settle_all(rq, consumer, &entries);
}

void event_consumer_pass(struct request *rq)
{
	struct consumer *consumer = periodic_user(rq);
	if (consumer->is_broadcast)
		read_as_broadcast(rq, consumer);
	else
		read_as_group(rq, consumer);
}
