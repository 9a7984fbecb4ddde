/** Traces: what the processes did for one request, as spans of a trace (W3C Trace Context,
 * OpenTelemetry).
 *
 * Off by default; then a span costs a branch. A trace is sampled or not as its `traceparent` says;
 * for one that begins here a fraction decides. A trace without `traceparent` gets its id from the
 * request id, when that is a UUID, so that the tasks and events that the request has started, which
 * keep its id, belong to its trace.
 *
 *     const char *traceparent = received;
 *     struct span *span = span_begin(arena, SPAN_SERVER, request_id, &traceparent);
 *     ... calls that send `traceparent` ...
 *     span_end(span, "assets_search", false, f_text("http.request.method", "POST"));
 *
 * Ended spans wait in a bounded queue (trace_queue.h) and are sent by client/trace_export.h.
 */
#pragma once

#include "base/arena.h"
#include "observe/log.h"

#include <stdbool.h>
#include <stddef.h>

/** With the numbers of OTLP. */
enum span_kind {
	SPAN_SERVER = 2,
	SPAN_CLIENT = 3,   /* only within a trace: without `traceparent` there is no span */
	SPAN_CONSUMER = 5, /* a task or an event */
};

struct span;

/** What became of spans, for the metric. */
enum span_outcome { SPAN_SENT, SPAN_FULL, SPAN_REFUSED };
void spans_count(enum span_outcome outcome, size_t count);

/** Record spans from now on; `fraction` of the traces that begin here. Once, before other
 * threads. */
void trace_start(double fraction);

/** Whether trace_start() was called. */
bool trace_is_on(void);

/** Begin a span in the arena. NULL: it is not recorded. *traceparent, as it was received (NULL or
 * invalid: none), becomes what is sent with calls within the span; while traces are off it is left
 * alone. */
struct span *span_begin(struct arena *arena, enum span_kind kind, const char *request_id,
                        const char **traceparent);

/** End it and queue it. Borrows. The fields are its attributes; a NULL text is left out. */
void span_write(const struct span *span, const char *name, bool is_failed,
                const struct log_field *attributes);
#define span_end(span, name, is_failed, ...)                                                   \
	do {                                                                                   \
		if (span)                                                                      \
			span_write((span), (name), (is_failed),                                \
			           (struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){LOG_END}}); \
	} while (0)
