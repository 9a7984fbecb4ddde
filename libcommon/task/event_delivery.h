/** Runs the handlers of an event, and gives up events that cannot be handled. Internal to this
 * folder. */
#pragma once

#include "task/events.h"

#define DELIVERIES_MAX 10 /* failures by itself, after which an event is given up */

/** How a delivery ended. */
struct delivery {
	enum err_code code; /* ERR_NONE: handled, or no handler matches */
	char detail[256];
};

/** Whether the entry is an event that a handler of the process is for. */
bool event_is_handled(const struct event_consumer *consumer, const struct stream_entry *entry);

/** Run the matching handlers of the entry in a request of their own, and wait until it has ended,
 * even when cancelled. It is cancelled after `timeout_ms`. Suspends. */
struct delivery event_deliver(struct request *rq, const struct event_consumer *consumer,
                              const struct stream_entry *entry, uint64_t timeout_ms);

/** How long a try of the entry after the first may take. */
uint64_t event_timeout_ms(const struct event_consumer *consumer, const struct stream_entry *entry);

/** Copy the entry to `events.dead.<service>`, for operators. Suspends; raises when that fails, so
 * that the event is kept. */
void event_dead_letter(struct request *rq, const struct event_consumer *consumer,
                       const struct stream_entry *entry, const char *why);
