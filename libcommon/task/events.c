#include "base/base.h"
#include "task/event_consumer.h"
#include "task/event_deliver.h"

#include <stdlib.h>
#include <string.h>

#define PASS_TIMEOUT_MS 3600000 /* a batch waits as long as what its handlers need is away */

void events_register(void)
{
	event_deliver_register();
}

static struct consumer *consumer_find(struct tasks *tasks, const struct event_handler *handler)
{
	struct consumer *consumer = tasks->consumers;
	while (consumer && (strcmp(consumer->stream, handler->stream) != 0 ||
	                    consumer->is_broadcast != handler->is_broadcast))
		consumer = consumer->next;
	return consumer;
}

static void consumer_start(struct tasks *tasks, const struct event_handler *handler)
{
	struct consumer *consumer = calloc(1, sizeof(*consumer));
	require(consumer);
	consumer->tasks = tasks;
	consumer->stream = handler->stream;
	consumer->is_broadcast = handler->is_broadcast;
	consumer->has_leftovers = !handler->is_broadcast;
	consumer->connection = redis_blocking_new(tasks->worker->redis);
	consumer->periodic = periodic_new(tasks->worker, handler->stream, event_consumer_pass,
	                                  consumer, 0, PASS_TIMEOUT_MS);
	consumer->next = tasks->consumers;
	tasks->consumers = consumer;
	tasks_know_stream(tasks, handler->stream);
	periodic_wake(consumer->periodic);
}

void events_start(struct tasks *tasks)
{
	for (const struct event_handler *handler = tasks->settings.events;
	     handler && handler->stream; handler++) {
		if (!consumer_find(tasks, handler))
			consumer_start(tasks, handler);
	}
}

void events_stop(struct tasks *tasks)
{
	for (struct consumer *consumer = tasks->consumers; consumer; consumer = consumer->next)
		periodic_stop(consumer->periodic);
}

bool events_are_idle(const struct tasks *tasks)
{
	for (const struct consumer *consumer = tasks->consumers; consumer;
	     consumer = consumer->next) {
		if (!periodic_is_idle(consumer->periodic))
			return false;
	}
	return true;
}

void events_free(struct tasks *tasks)
{
	while (tasks->consumers) {
		struct consumer *consumer = tasks->consumers;
		tasks->consumers = consumer->next;
		periodic_free(consumer->periodic);
		redis_blocking_free(consumer->connection);
		free(consumer);
	}
}
