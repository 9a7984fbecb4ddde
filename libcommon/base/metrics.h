/** Prometheus metrics (text format 0.0.4), counted without locks.
 *
 * A metric is declared once, statically, and registered before the worker threads start. Label
 * values come from fixed tables (an operation id, a status class), never from input, so that the
 * number of series is bounded.
 *
 *     static struct metric requests =
 *             METRIC_COUNTER("expops_http_requests_total", "Requests answered.",
 *                            "operation", "status");
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

enum metric_type { METRIC_TYPE_COUNTER, METRIC_TYPE_GAUGE, METRIC_TYPE_HISTOGRAM };

#define METRIC_LABELS 2 /* the most labels that a metric may have */

struct metric_series; /* one combination of label values; internal to metrics.c */

struct metric {
	enum metric_type type;
	const char *name; /* with its unit, as Prometheus wants it: _total, _seconds, _bytes */
	const char *help; /* one sentence */
	const char *labels[METRIC_LABELS];
	_Atomic(struct metric_series *) series;
	struct metric *next;
};

#define METRIC_COUNTER(n, h, ...)                                                                \
	{                                                                                        \
		.type = METRIC_TYPE_COUNTER, .name = (n), .help = (h), .labels = { __VA_ARGS__ } \
	}
#define METRIC_GAUGE(n, h, ...)                                                                \
	{                                                                                      \
		.type = METRIC_TYPE_GAUGE, .name = (n), .help = (h), .labels = { __VA_ARGS__ } \
	}
/** Buckets are 0.5 ms doubling up to 65 s, in seconds. */
#define METRIC_HISTOGRAM(n, h, ...)                                                                \
	{                                                                                          \
		.type = METRIC_TYPE_HISTOGRAM, .name = (n), .help = (h), .labels = { __VA_ARGS__ } \
	}

/** Add to the process's list; the metric stays the caller's and lives for ever. Twice is harmless.
 * Any thread. A metric without labels is exposed as 0 from now on. */
void metric_register(struct metric *metric);

/** `label_a` and `label_b` as declared, NULL where there is none; both live for ever. Any thread.
 */
void metric_add(struct metric *metric, const char *label_a, const char *label_b, double value);
void metric_set(struct metric *metric, const char *label_a, const char *label_b, double value);
void metric_observe_seconds(struct metric *metric, const char *label_a, const char *label_b,
                            double seconds);

/** The whole exposition: metrics by registration, then process_* (RSS, CPU, open files, start
 * time). */
char *metrics_text(struct arena *arena);
