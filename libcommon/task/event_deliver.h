/** Handing one entry to the handlers of its stream. */
#pragma once

#include "task/event_consumer.h"
#include "task/stream.h"

/** How a delivery ended. */
struct delivery {
	enum err_code code; /* ERR_NONE: handled, or nobody is interested */
	char detail[256];
};

/** Run the handlers that want the entry, in a request of their own, and wait for it to end even
 * when cancelled. */
struct delivery event_deliver(struct request *rq, const struct consumer *consumer,
                              const struct stream_entry *entry);

/** Register the metrics. */
void event_deliver_register(void);
