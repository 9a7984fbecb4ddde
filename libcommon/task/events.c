#include "task/events.h"

#include "base/backoff.h"
#include "base/base.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/scope.h"
#include "base/timefmt.h"
#include "base/uuid.h"
#include "job.sql.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "task/stream.h"
#include "task/stream_trim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASS_TIMEOUT_MS     3600000 /* a batch waits while a part of the system is unavailable */
#define DELIVERY_TIMEOUT_MS 60000
#define BATCH               16
#define BATCH_TEXT          "16"
#define DELIVERIES_MAX      10
#define DEAD_STREAM         "events.dead"
#define DEAD_KEPT           "10000"

struct event_consumer {
	SLIST_ENTRY(event_consumer) entry; /* in tasks->consumers */
	struct tasks *tasks;
	const char *stream;
	bool is_broadcast; /* reads without a group: every process reads every entry */
	struct periodic *periodic;
	struct redis_blocking *connection;
	bool has_group;
	bool has_leftovers;      /* own unacknowledged entries, of an interrupted pass */
	uint64_t stale_check_ms; /* monotonic time of the next search for stale entries of others */
	char last_id[48];        /* broadcast: the last entry read; "": none yet */
};

static struct metric events_total =
	METRIC_COUNTER("expops_events_total", "Deliveries of events by how they ended.", "stream",
                       "outcome");

void events_register(void)
{
	metric_register(&events_total);
}

/* How the delivery of an entry ended. */
struct delivery {
	enum err_code code; /* ERR_NONE: handled, or no handler matches */
	char detail[256];
};

/* One entry for the handlers; on the stack of the fiber that calls fiber_join_try(). */
struct call {
	const struct event_consumer *consumer;
	const struct stream_entry *entry;
};

static bool matches(const struct event_consumer *consumer, const struct event_handler *handler,
                    const char *type)
{
	return strcmp(handler->stream, consumer->stream) == 0 &&
	       handler->is_broadcast == consumer->is_broadcast &&
	       (!handler->type || strcmp(handler->type, type) == 0);
}

static bool has_handler(const struct event_consumer *consumer, const char *type)
{
	for (const struct event_handler *handler = consumer->tasks->settings.events;
	     handler->stream; handler++) {
		if (matches(consumer, handler, type))
			return true;
	}
	return false;
}

static const char *text_of(const struct stream_entry *entry, const char *name)
{
	const char *text = stream_field(entry, name);
	return text ? text : "";
}

static void read_event(struct request *rq, const struct stream_entry *entry, struct event *event)
{
	const char *at = text_of(entry, "at");
	const char *data = text_of(entry, "data");
	struct uuid account;
	*event = (struct event){
		.id = text_of(entry, "id"),
		.type = text_of(entry, "type"),
		.account = text_of(entry, "account"),
	};
	rq->caller = (struct identity){.kind = KEY_SERVICE, .scopes = SCOPE_ALL};
	if (uuid_parse(event->account, strlen(event->account), &account))
		rq->caller.account = account;
	if (!time_parse(at, strlen(at), &event->at_ms) ||
	    json_parse(rq->arena, data, strlen(data), &event->data, NULL) != ERR_NONE ||
	    !yyjson_is_obj(event->data))
		raise_error(rq, ERR_INVALID, "the entry is not an event");
}

static void call_main(struct request *rq)
{
	struct call *call = rq->user;
	struct event event;
	const char *cause = text_of(call->entry, "request_id");
	rq->id = cause[0] ? cause : text_of(call->entry, "id");
	fiber_set_label(rq->id);
	read_event(rq, call->entry, &event);
	for (const struct event_handler *handler = call->consumer->tasks->settings.events;
	     handler->stream; handler++) {
		if (matches(call->consumer, handler, event.type))
			handler->run(rq, &event);
	}
}

/* Run the matching handlers of the entry in a separate request, and wait until it has ended, even when
 * cancelled. */
static struct delivery deliver(struct request *rq, const struct event_consumer *consumer,
                               const struct stream_entry *entry)
{
	struct call call = {.consumer = consumer, .entry = entry};
	struct delivery delivery = {0};
	struct problem problem;
	if (!entry->fields || !has_handler(consumer, text_of(entry, "type")))
		return delivery;
	fiber_spawn_within(rq, DELIVERY_TIMEOUT_MS, call_main, &call);
	delivery.code = fiber_join_try(rq, &problem);
	if (delivery.code != ERR_NONE)
		snprintf(delivery.detail, sizeof(delivery.detail), "%s: %s",
		         err_info(delivery.code)->slug,
		         problem.detail ? problem.detail : "no detail");
	metric_add(&events_total, consumer->stream,
	           delivery.code == ERR_NONE ? "handled" : "failed", 1);
	return delivery;
}

/* Copy the entry to `events.dead`, for operators. Raises when that fails, so the entry stays. */
static void dead_letter(struct request *rq, const struct event_consumer *consumer,
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
	log_error(LOG_GROUP_JOBS, "event not handled, moved to events.dead",
	          f_text("stream", consumer->stream), f_text("entry", entry->id),
	          f_text("why", why));
}

/* Keep other consumers from taking over the rest of the batch. */
static void renew_claims(struct request *rq, const struct event_consumer *consumer,
                         const struct stream_entries *entries, size_t from)
{
	if (consumer->is_broadcast)
		return;
	const char **ids = arena_array(rq->arena, entries->count, sizeof(*ids));
	for (size_t i = from; i < entries->count; i++)
		ids[i - from] = entries->items[i].id;
	stream_renew_claims(rq, consumer->stream, consumer->tasks->settings.service,
	                    consumer->tasks->settings.instance, ids, entries->count - from);
}

static void acknowledge(struct request *rq, struct event_consumer *consumer, const char *id)
{
	if (consumer->is_broadcast)
		snprintf(consumer->last_id, sizeof(consumer->last_id), "%s", id);
	else
		redis_words(rq, "XACK", consumer->stream, consumer->tasks->settings.service, id);
}

/* Deliver until the entry is handled or has failed too often, then acknowledge it. */
static void settle(struct request *rq, struct event_consumer *consumer,
                   const struct stream_entries *entries, size_t index, int deliveries)
{
	const struct stream_entry *entry = &entries->items[index];
	for (unsigned tries = 1;; tries++) {
		struct delivery delivery = deliver(rq, consumer, entry);
		if (delivery.code == ERR_NONE)
			break;
		if (!err_info(delivery.code)->is_transient && ++deliveries >= DELIVERIES_MAX) {
			if (!consumer->is_broadcast)
				dead_letter(rq, consumer, entry, delivery.detail);
			break;
		}
		if (tries == 1)
			log_warn(LOG_GROUP_JOBS, "event not handled, trying again",
			         f_text("stream", consumer->stream), f_text("entry", entry->id),
			         f_text("why", delivery.detail));
		fiber_sleep(rq, backoff_ms(tries, tasks_timing.retry, tasks_timing.retry_max));
		renew_claims(rq, consumer, entries, index);
	}
	acknowledge(rq, consumer, entry->id);
}

static void settle_all(struct request *rq, struct event_consumer *consumer,
                       const struct stream_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		settle(rq, consumer, entries, i, 0);
}

/* XREADGROUP from `id`: `>` new entries, `0` those of this consumer that are not acknowledged. */
static struct stream_entries read_group(struct request *rq, struct event_consumer *consumer,
                                        const char *id)
{
	struct stream_entries entries;
	consumer->has_group = stream_read_group(rq, consumer->connection, consumer->stream,
	                                        consumer->tasks->settings.service,
	                                        consumer->tasks->settings.instance, id, BATCH,
	                                        tasks_timing.block, &entries);
	return entries;
}

/* Take over entries whose consumer has been silent for too long. XPENDING replies
 * `[[id, consumer, idle, deliveries], ...]`; each is claimed alone, with its number of deliveries. */
static void take_stale(struct request *rq, struct event_consumer *consumer)
{
	const char *idle = arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.stale);
	const char *service = consumer->tasks->settings.service;
	const char *const list[] = {"XPENDING", consumer->stream, service, "IDLE", idle, "-",
	                            "+",        BATCH_TEXT};
	const struct redis_value *stale = stream_command(rq, list, ARRAY_LEN(list));
	for (size_t i = 0; stale->type == REDIS_LIST && i < stale->count; i++) {
		const struct redis_value *row = &stale->items[i];
		const char *const claim[] = {"XCLAIM", consumer->stream,
		                             service,  consumer->tasks->settings.instance,
		                             idle,     row->items[0].text};
		struct stream_entries entries =
			stream_entries_of(rq, stream_command(rq, claim, ARRAY_LEN(claim)));
		if (entries.count == 1)
			settle(rq, consumer, &entries, 0, (int)row->items[3].integer - 1);
	}
}

static void read_as_group(struct request *rq, struct event_consumer *consumer)
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
		consumer->stale_check_ms = now_ms + jitter_ms(tasks_timing.stale);
		take_stale(rq, consumer);
	}
	consumer->has_leftovers = true; /* until all are settled */
	entries = read_group(rq, consumer, ">");
	settle_all(rq, consumer, &entries);
	consumer->has_leftovers = false;
}

/* A broadcast begins after the newest entry that exists when the process starts. */
static void find_end(struct request *rq, struct event_consumer *consumer)
{
	const char *const argv[] = {"XREVRANGE", consumer->stream, "+", "-", "COUNT", "1"};
	struct stream_entries entries =
		stream_entries_of(rq, stream_command(rq, argv, ARRAY_LEN(argv)));
	snprintf(consumer->last_id, sizeof(consumer->last_id), "%s",
	         entries.count ? entries.items[0].id : "0-0");
}

static void read_as_broadcast(struct request *rq, struct event_consumer *consumer)
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
		raise_error(rq, code, "the events cannot be read");
	struct stream_entries entries = stream_entries_read(rq, reply);
	settle_all(rq, consumer, &entries);
}

static void consumer_pass(struct request *rq)
{
	struct event_consumer *consumer = periodic_user(rq);
	if (consumer->is_broadcast)
		read_as_broadcast(rq, consumer);
	else
		read_as_group(rq, consumer);
}

static bool has_consumer(const struct tasks *tasks, const struct event_handler *handler)
{
	const struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry) {
		if (strcmp(consumer->stream, handler->stream) == 0 &&
		    consumer->is_broadcast == handler->is_broadcast)
			return true;
	}
	return false;
}

static void consumer_start(struct tasks *tasks, const struct event_handler *handler)
{
	struct event_consumer *consumer = calloc(1, sizeof(*consumer));
	require(consumer);
	consumer->tasks = tasks;
	consumer->stream = handler->stream;
	consumer->is_broadcast = handler->is_broadcast;
	consumer->has_leftovers = !handler->is_broadcast;
	consumer->connection = redis_blocking_new(tasks->worker->redis);
	consumer->periodic = periodic_new(tasks->worker, handler->stream, consumer_pass, consumer,
	                                  0, PASS_TIMEOUT_MS);
	SLIST_INSERT_HEAD(&tasks->consumers, consumer, entry);
	stream_trim_add(tasks, handler->stream);
	periodic_wake(consumer->periodic);
}

void events_start(struct tasks *tasks)
{
	for (const struct event_handler *handler = tasks->settings.events;
	     handler && handler->stream; handler++) {
		if (!has_consumer(tasks, handler))
			consumer_start(tasks, handler);
	}
}

void events_stop(struct tasks *tasks)
{
	struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry)
		periodic_stop(consumer->periodic);
}

bool events_are_idle(const struct tasks *tasks)
{
	const struct event_consumer *consumer;
	SLIST_FOREACH (consumer, &tasks->consumers, entry) {
		if (!periodic_is_idle(consumer->periodic))
			return false;
	}
	return true;
}

void events_free(struct tasks *tasks)
{
	struct event_consumer *consumer;
	while ((consumer = SLIST_FIRST(&tasks->consumers))) {
		SLIST_REMOVE_HEAD(&tasks->consumers, entry);
		periodic_free(consumer->periodic);
		redis_blocking_free(consumer->connection);
		free(consumer);
	}
}

bool event_is_new(struct request *rq, const struct event *event)
{
	return pg_query(rq, EVENT_NOTE_SEEN_SQL, pg_text(event->id))->affected == 1;
}
