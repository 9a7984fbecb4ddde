/** The spans that wait for the thread which sends them (client/trace_export.h): a bounded queue of
 * texts. What finds it full is dropped and counted, and nobody waits for room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_QUEUE_BYTES ((size_t)1 << 20)

/** Spans as JSON objects, separated by commas. */
struct trace_batch {
	char *text; /* borrows: until the next trace_queue_take() */
	size_t length, count;
};

/** Allocate the queue. Once, before other threads. */
void trace_queue_start(void);

/** Add a span. False: there is no room, or the queue was not started. Any thread. */
bool trace_queue_add(const char *text, size_t length);

/** Wait for spans, and then `linger_ms` for more, but not while the queue is half full or ends.
 * False: it has ended, and is empty. For one thread. */
bool trace_queue_take(struct trace_batch *ret_batch, uint64_t linger_ms);

/** Wait. False: the queue ends. */
bool trace_queue_pause(uint64_t ms);

/** Let the taker end. */
void trace_queue_end(void);

/** Free, once the taker has ended. */
void trace_queue_free(void);
