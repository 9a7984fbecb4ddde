/** Prometheus metrics (text format 0.0.4), updated without locks.
 *
 * A metric is a variable of its file. The declaration is also its row in the process's table of
 * metrics: the linker joins the rows of all files that a program is linked of, so nothing registers
 * them. Label values must come from fixed tables (an operation id, a status class) and not from
 * input, so that the number of series is limited.
 *
 *     METRIC_COUNTER(requests_total, "expops_http_requests_total", "Requests answered.",
 *                    "operation", "status");
 *
 * deploy/METRICS.md is made from the tables.
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
	double (*read)(void); /* the value is asked of it; NULL: the series have it */
	_Atomic(struct metric_series *) series;
};

/** The variable, and the row that points to it. */
#define METRIC_ROW(variable, ...)                      \
	static struct metric variable = {__VA_ARGS__}; \
	static struct metric *const variable##_row     \
		__attribute__((used, section("expops_metrics"))) = &variable

#define METRIC_COUNTER(variable, n, h, ...)                                         \
	METRIC_ROW(variable, .type = METRIC_TYPE_COUNTER, .name = (n), .help = (h), \
	           .labels = {__VA_ARGS__})
#define METRIC_GAUGE(variable, n, h, ...)                                         \
	METRIC_ROW(variable, .type = METRIC_TYPE_GAUGE, .name = (n), .help = (h), \
	           .labels = {__VA_ARGS__})
/** The limits of the buckets are 0.5 ms, doubled up to 65 s; in seconds. */
#define METRIC_HISTOGRAM(variable, n, h, ...)                                         \
	METRIC_ROW(variable, .type = METRIC_TYPE_HISTOGRAM, .name = (n), .help = (h), \
	           .labels = {__VA_ARGS__})

/** Add to, set or observe the series with these label values, in the order of the declaration;
 * NULL: no such label. Borrows the values; they must live as long as the process. Any thread. */
void metric_add(struct metric *metric, const char *label_a, const char *label_b, double value);
void metric_set(struct metric *metric, const char *label_a, const char *label_b, double value);
void metric_observe_seconds(struct metric *metric, const char *label_a, const char *label_b,
                            double seconds);

/** The exposition of all metrics, those of process_* (memory, CPU, open files, start time) too. One
 * without labels is 0 from the start. In the arena. */
char *metrics_text(struct arena *arena);

/** Print the table on standard output, by name, one metric on each line: its name, type, labels,
 * unit and help, separated by tabs. */
void metrics_print(void);
