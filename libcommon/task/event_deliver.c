#include "task/event_deliver.h"

#include "base/json.h"
#include "base/scope.h"
#include "base/timefmt.h"
#include "base/uuid.h"
#include "loop/wait.h"

#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS 60000

static struct metric events_total =
	METRIC_COUNTER("expops_events_total", "Deliveries of events by how they ended.", "stream",
                       "outcome");

void event_deliver_register(void)
{
	metric_register(&events_total);
}

/* On the stack of the fiber that joins. */
struct call {
	const struct consumer *consumer;
	const struct stream_entry *entry;
};

static bool is_wanted(const struct consumer *consumer, const struct event_handler *handler,
                      const char *type)
{
	return strcmp(handler->stream, consumer->stream) == 0 &&
	       handler->is_broadcast == consumer->is_broadcast &&
	       (!handler->type || strcmp(handler->type, type) == 0);
}

static bool anyone_wants(const struct consumer *consumer, const char *type)
{
	for (const struct event_handler *handler = consumer->tasks->settings.events;
	     handler->stream; handler++) {
		if (is_wanted(consumer, handler, type))
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
		if (is_wanted(call->consumer, handler, event.type))
			handler->run(rq, &event);
	}
}

struct delivery event_deliver(struct request *rq, const struct consumer *consumer,
                              const struct stream_entry *entry)
{
	struct call call = {.consumer = consumer, .entry = entry};
	struct delivery delivery = {0};
	struct problem problem;
	if (!entry->fields || !anyone_wants(consumer, text_of(entry, "type")))
		return delivery;
	fiber_spawn_within(rq, TIMEOUT_MS, call_main, &call);
	delivery.code = fiber_join_try(rq, &problem);
	if (delivery.code != ERR_NONE)
		snprintf(delivery.detail, sizeof(delivery.detail), "%s: %s",
		         err_info(delivery.code)->slug,
		         problem.detail ? problem.detail : "no detail");
	metric_add(&events_total, consumer->stream,
	           delivery.code == ERR_NONE ? "handled" : "failed", 1);
	return delivery;
}
