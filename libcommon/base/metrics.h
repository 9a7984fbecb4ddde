/** Prometheus metrics (text format 0.0.4), updated without locks.
 *
 * A metric is a static variable that is registered once. Label values must come from fixed tables
 * (an operation id, a status class) and not from input, so that the number of series is limited.
 *
 *     static struct metric requests =
 *             METRIC_COUNTER("expops_http_requests_total", "Requests answered.",
 *                            "operation", "status");
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

enum metric_type { METRIC_TYPE_COUNTER, METRIC_TYPE_GAUGE, METRIC_TYPE_HISTOGRAM };

#define METRIC_LABELS 2 /* most labels of a metric */

struct metric_series; /* one combination of label values; internal to metrics.c */

struct metric {
	enum metric_type type;
	const char *name; /* ends with the unit, by Prometheus's rules: _total, _seconds, _bytes */
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
/** The limits of the buckets are 0.5 ms, doubled up to 65 s; in seconds. */
#define METRIC_HISTOGRAM(n, h, ...)                                                                \
	{                                                                                          \
		.type = METRIC_TYPE_HISTOGRAM, .name = (n), .help = (h), .labels = { __VA_ARGS__ } \
	}

/** Add the metric to the process's list. Borrows; it must live as long as the process. Registering
 * it again does nothing. Any thread. A metric without labels is exposed as 0 from now on. */
void metric_register(struct metric *metric);

/** Add to, set or observe the series with these label values, in the order of the declaration; NULL:
 * no such label. Borrows the values; they must live as long as the process. Any thread. */
void metric_add(struct metric *metric, const char *label_a, const char *label_b, double value);
void metric_set(struct metric *metric, const char *label_a, const char *label_b, double value);
void metric_observe_seconds(struct metric *metric, const char *label_a, const char *label_b,
                            double seconds);

/** The exposition of all metrics in the order of registration, then process_* (memory, CPU, open
 * files, start time). In the arena. */
char *metrics_text(struct arena *arena);
