#include "task/event_delivery.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "crypto/scope.h"
#include "crypto/uuid.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"

#include <stdio.h>
#include <string.h>

#define DEAD_KEPT          "1000"
#define TIMEOUT_DEFAULT_MS 60000

METRIC_COUNTER(events_total, "expops_events_total", "Deliveries of events by how they ended.",
               "stream", "outcome");

/* One entry for the handlers; on the stack of the fiber that calls fiber_join_try(). */
struct call {
	const struct event_consumer *consumer;
	const struct stream_entry *entry;
	const char *traceparent; /* NULL: not traced */
};

static bool matches(const struct event_consumer *consumer, const struct event_handler *handler,
                    const char *type)
{
	return strcmp(handler->stream, consumer->stream) == 0 &&
	       (!handler->type || strcmp(handler->type, type) == 0);
}

bool event_is_handled(const struct event_consumer *consumer, const struct stream_entry *entry)
{
	if (!entry->fields)
		return false;
	const char *type = stream_text(entry, "type");
	for (const struct event_handler *handler = consumer->tasks->settings.events;
	     handler->stream; handler++) {
		if (matches(consumer, handler, type))
			return true;
	}
	return false;
}

uint64_t event_timeout_ms(const struct event_consumer *consumer, const struct stream_entry *entry)
{
	const char *type = stream_text(entry, "type");
	uint64_t timeout_ms = TIMEOUT_DEFAULT_MS;
	for (const struct event_handler *handler = consumer->tasks->settings.events;
	     handler->stream; handler++) {
		if (matches(consumer, handler, type))
			timeout_ms = MAX_OF(timeout_ms, handler->timeout_ms);
	}
	return timeout_ms;
}

static void read_event(struct request *rq, const struct stream_entry *entry, struct event *event)
{
	const char *at = stream_text(entry, "at");
	const char *data = stream_text(entry, "data");
	struct uuid account;
	*event = (struct event){
		.id = stream_text(entry, "id"),
		.type = stream_text(entry, "type"),
		.account = stream_text(entry, "account"),
	};
	rq->caller = (struct identity){.kind = KEY_SERVICE, .scopes = SCOPE_ALL};
	if (uuid_parse(event->account, strlen(event->account), &account))
		rq->caller.account = account;
	if (!time_parse(at, strlen(at), &event->at_ms) ||
	    json_parse_peer(rq->arena, data, strlen(data), SIZE_MAX, &event->data, NULL) ||
	    !yyjson_is_obj(event->data))
		raise_error(rq, ERR_INVALID, "the entry is not an event");
}

static void call_main(struct request *rq)
{
	struct call *call = rq->user;
	struct event event;
	const char *cause = stream_text(call->entry, "request_id");
	rq->id = cause[0] ? cause : stream_text(call->entry, "id");
	fiber_set_label(rq->id);
	rq->traceparent = call->traceparent;
	read_event(rq, call->entry, &event);
	for (const struct event_handler *handler = call->consumer->tasks->settings.events;
	     handler->stream; handler++) {
		if (matches(call->consumer, handler, event.type))
			handler->run(rq, &event);
	}
}

struct delivery event_deliver(struct request *rq, const struct event_consumer *consumer,
                              const struct stream_entry *entry, uint64_t timeout_ms)
{
	struct call call = {.consumer = consumer, .entry = entry};
	struct delivery delivery = {0};
	struct problem problem;
	const char *cause = stream_text(entry, "request_id");
	if (!event_is_handled(consumer, entry))
		return delivery;
	struct span *span =
		span_begin(rq->arena, SPAN_CONSUMER, cause[0] ? cause : NULL, &call.traceparent);
	fiber_spawn_within(rq, timeout_ms, call_main, &call);
	delivery.code = fiber_join_try(rq, &problem);
	if (delivery.code != ERR_NONE)
		snprintf(delivery.detail, sizeof(delivery.detail), "%s: %s",
		         err_info(delivery.code)->slug, problem_detail(rq->arena, &problem));
	metric_add(&events_total, consumer->stream,
	           delivery.code == ERR_NONE ? "handled" : "failed", 1);
	span_end(span, consumer->stream, delivery.code != ERR_NONE,
	         f_text("expops.event.id", stream_text(entry, "id")),
	         f_text("expops.event.type", stream_text(entry, "type")),
	         f_text("expops.request_id", cause));
	return delivery;
}

void event_dead_letter(struct request *rq, const struct event_consumer *consumer,
                       const struct stream_entry *entry, const char *why)
{
	size_t count = entry->fields ? entry->fields->count : 0;
	const char **argv = arena_array(rq->arena, count + 12, sizeof(*argv));
	const char *service = consumer->tasks->settings.service;
	const char *dead = arena_printf(rq->arena, "events.dead.%s", service);
	const char *const head[] = {
		"XADD",           dead,      "MAXLEN", "~",     DEAD_KEPT, "*", "stream",
		consumer->stream, "service", service,  "error", why,
	};
	memcpy(argv, head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		argv[ARRAY_LEN(head) + i] = entry->fields->items[i].text;
	redis_command(rq, argv, ARRAY_LEN(head) + count);
	metric_add(&events_total, consumer->stream, "dead", 1);
	log_error("event not handled, moved to a dead-letter stream",
	          f_text("stream", consumer->stream), f_text("entry", entry->id),
	          f_text("moved_to", dead), f_text("why", why));
}
