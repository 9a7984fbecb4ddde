#include "task/event_deliver.h"

#include "base/json.h"
#include "base/scope.h"
#include "base/timefmt.h"
#include "base/uuid.h"

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

/* Lives on the stack of the fiber that waits for it. */
struct call {
	const struct consumer *consumer;
	const struct stream_entry *entry;
	struct fiber *waiter;
	struct delivery delivery;
	bool is_done;
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
	for (const struct event_handler *handler = consumer->tasks->events; handler->stream;
	     handler++) {
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
	read_event(rq, call->entry, &event);
	for (const struct event_handler *handler = call->consumer->tasks->events; handler->stream;
	     handler++) {
		if (is_wanted(call->consumer, handler, event.type))
			handler->run(rq, &event);
	}
}

static void call_over(struct request *rq)
{
	struct call *call = rq->user;
	call->delivery.code = rq->problem.code;
	if (rq->problem.code != ERR_NONE)
		snprintf(call->delivery.detail, sizeof(call->delivery.detail), "%s: %s",
		         err_info(rq->problem.code)->slug,
		         rq->problem.detail ? rq->problem.detail : "no detail");
	call->is_done = true;
	fiber_wake(call->waiter);
}

struct delivery event_deliver(struct request *rq, const struct consumer *consumer,
                              const struct stream_entry *entry)
{
	struct call call = {.consumer = consumer, .entry = entry, .waiter = fiber_self()};
	const char *cause = text_of(entry, "request_id");
	if (!entry->fields || !anyone_wants(consumer, text_of(entry, "type")))
		return call.delivery;
	request_spawn(rq->worker, cause[0] ? cause : text_of(entry, "id"), TIMEOUT_MS, call_main,
	              call_over, &call);
	while (!call.is_done)
		fiber_wait_uncancelled();
	metric_add(&events_total, consumer->stream,
	           call.delivery.code == ERR_NONE ? "handled" : "failed", 1);
	return call.delivery;
}
