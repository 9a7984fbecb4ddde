#include "observe/metrics.h"

#include "base/timefmt.h"

#include <dirent.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS          18 /* of a histogram, without the last one, +Inf */
#define BUCKET_FIRST     0.0005
#define CACHE_ENTRIES    256 /* a power of two */
#define VALUE_TEXT_BYTES 32

/* The value for one combination of labels. Series are appended to a metric's list and never
 * removed, so readers need no lock. */
struct metric_series {
	const char *labels[METRIC_LABELS];
	_Atomic(struct metric_series *) next;
	_Atomic uint64_t value;     /* bits of a double; for a histogram the sum */
	_Atomic uint64_t buckets[]; /* for a histogram, BUCKETS + 1 counts, not cumulative */
};

/* Per-thread cache of series, indexed by the addresses of the metric and the label values. */
struct cache_entry {
	const struct metric *metric;
	const char *label_a, *label_b;
	struct metric_series *series;
};

static _Thread_local struct cache_entry cache[CACHE_ENTRIES];

/* The table of metrics: the linker defines where the section of their rows begins and ends. */
extern struct metric *const __start_expops_metrics[];
extern struct metric *const __stop_expops_metrics[];

static double start_time_seconds;

static void __attribute__((constructor)) remember_start(void)
{
	start_time_seconds = (double)time_now_ms() / 1000;
}

static bool label_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static struct metric_series *series_new(const struct metric *metric, const char *label_a,
                                        const char *label_b)
{
	size_t buckets = metric->type == METRIC_TYPE_HISTOGRAM ? BUCKETS + 1 : 0;
	struct metric_series *series =
		calloc(1, sizeof(*series) + buckets * sizeof(series->buckets[0]));
	require(series);
	series->labels[0] = label_a;
	series->labels[1] = label_b;
	return series;
}

/* Find the series of the labels; append it if it is new. */
static struct metric_series *series_find(struct metric *metric, const char *label_a,
                                         const char *label_b)
{
	_Atomic(struct metric_series *) *link = &metric->series;
	struct metric_series *made = NULL;
	for (;;) {
		struct metric_series *series = atomic_load_explicit(link, memory_order_acquire);
		if (!series) {
			if (!made)
				made = series_new(metric, label_a, label_b);
			if (atomic_compare_exchange_strong(link, &series, made))
				return made;
		}
		if (label_equal(series->labels[0], label_a) &&
		    label_equal(series->labels[1], label_b)) {
			free(made);
			return series;
		}
		link = &series->next;
	}
}

static struct metric_series *series_get(struct metric *metric, const char *label_a,
                                        const char *label_b)
{
	uint64_t hash = (uintptr_t)metric ^ (uintptr_t)label_a * 31 ^ (uintptr_t)label_b * 961;
	hash *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio: Knuth, TAOCP 3, section 6.4 */
	struct cache_entry *entry = &cache[hash >> 56];
	if (entry->metric != metric || entry->label_a != label_a || entry->label_b != label_b)
		*entry = (struct cache_entry){metric, label_a, label_b,
		                              series_find(metric, label_a, label_b)};
	return entry->series;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double value_of(_Atomic uint64_t *value)
{
	uint64_t bits = atomic_load_explicit(value, memory_order_relaxed);
	double number;
	memcpy(&number, &bits, sizeof(number));
	return number;
}

static void value_add(_Atomic uint64_t *value, double addend)
{
	double old = value_of(value);
	uint64_t expected = bits_of(old);
	while (!atomic_compare_exchange_weak_explicit(value, &expected, bits_of(old + addend),
	                                              memory_order_relaxed, memory_order_relaxed))
		memcpy(&old, &expected, sizeof(old));
}

void metric_add(struct metric *metric, const char *label_a, const char *label_b, double value)
{
	value_add(&series_get(metric, label_a, label_b)->value, value);
}

void metric_set(struct metric *metric, const char *label_a, const char *label_b, double value)
{
	atomic_store_explicit(&series_get(metric, label_a, label_b)->value, bits_of(value),
	                      memory_order_relaxed);
}

static double bucket_limit(int bucket)
{
	return ldexp(BUCKET_FIRST, bucket);
}

void metric_observe_seconds(struct metric *metric, const char *label_a, const char *label_b,
                            double seconds)
{
	require(metric->type == METRIC_TYPE_HISTOGRAM);
	struct metric_series *series = series_get(metric, label_a, label_b);
	int bucket = 0;
	while (bucket < BUCKETS && seconds > bucket_limit(bucket))
		bucket++;
	atomic_fetch_add_explicit(&series->buckets[bucket], 1, memory_order_relaxed);
	value_add(&series->value, seconds);
}

/* The shorter of two texts that parses to `value`. */
static void format_value(double value, char out[VALUE_TEXT_BYTES])
{
	if (isnan(value) || isinf(value)) {
		snprintf(out, VALUE_TEXT_BYTES, "%s",
		         isnan(value) ? "NaN"
		         : value > 0  ? "+Inf"
		                      : "-Inf");
		return;
	}
	snprintf(out, VALUE_TEXT_BYTES, "%.15g", value);
	if (strtod(out, NULL) != value)
		snprintf(out, VALUE_TEXT_BYTES, "%.17g", value);
}

static void add_escaped(struct buf *out, const char *text, bool is_quoted)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			buf_puts(out, "\\n");
		else if (*text == '\\' || (is_quoted && *text == '"'))
			buf_printf(out, "\\%c", *text);
		else
			buf_add(out, text, 1);
	}
}

/* `name_suffix{operation="asset_list",status="2xx",le="0.001"} 17`; absent labels are left out. */
static void add_sample(struct buf *out, const struct metric *metric, const char *suffix,
                       const struct metric_series *series, const char *limit, double value)
{
	const char *names[] = {metric->labels[0], metric->labels[1], "le"};
	const char *values[] = {series->labels[0], series->labels[1], limit};
	char separator = '{';
	buf_printf(out, "%s%s", metric->name, suffix);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!names[i] || !values[i])
			continue;
		buf_printf(out, "%c%s=\"", separator, names[i]);
		add_escaped(out, values[i], true);
		buf_puts(out, "\"");
		separator = ',';
	}
	char text[VALUE_TEXT_BYTES];
	format_value(value, text);
	buf_printf(out, "%s %s\n", separator == ',' ? "}" : "", text);
}

static void add_histogram(struct buf *out, const struct metric *metric,
                          struct metric_series *series)
{
	uint64_t count = 0;
	for (int i = 0; i <= BUCKETS; i++) {
		char limit[VALUE_TEXT_BYTES];
		format_value(i < BUCKETS ? bucket_limit(i) : INFINITY, limit);
		count += atomic_load_explicit(&series->buckets[i], memory_order_relaxed);
		add_sample(out, metric, "_bucket", series, limit, (double)count);
	}
	add_sample(out, metric, "_sum", series, NULL, value_of(&series->value));
	add_sample(out, metric, "_count", series, NULL, (double)count);
}

static const char *const TYPE_NAMES[] = {"counter", "gauge", "histogram"};

static void add_head(struct buf *out, const struct metric *metric)
{
	buf_printf(out, "# HELP %s ", metric->name);
	add_escaped(out, metric->help, false);
	buf_printf(out, "\n# TYPE %s %s\n", metric->name, TYPE_NAMES[metric->type]);
}

static void add_metric(struct buf *out, struct metric *metric)
{
	add_head(out, metric);
	if (metric->read)
		metric_set(metric, NULL, NULL, metric->read());
	else if (!metric->labels[0])
		series_get(metric, NULL, NULL);
	struct metric_series *series = atomic_load_explicit(&metric->series, memory_order_acquire);
	while (series) {
		if (metric->type == METRIC_TYPE_HISTOGRAM)
			add_histogram(out, metric, series);
		else
			add_sample(out, metric, "", series, NULL, value_of(&series->value));
		series = atomic_load_explicit(&series->next, memory_order_acquire);
	}
}

/* NaN: /proc cannot be read. */
static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	if (!file)
		return NAN;
	/* `31416 2718 ...`: pages of the address space, pages in memory. */
	char line[128];
	char *end = fgets(line, sizeof(line), file);
	fclose(file);
	if (!end)
		return NAN;
	strtol(line, &end, 10);
	long pages = strtol(end, &end, 10);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
	struct timespec used;
	require(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static double open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	if (!folder)
		return NAN;
	int count = -1; /* the folder itself */
	for (struct dirent *entry; (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static double start_time(void)
{
	return start_time_seconds;
}

METRIC_ROW(memory_gauge, METRIC_TYPE_GAUGE, "process_resident_memory_bytes", "Memory in use.",
           .read = resident_bytes);
METRIC_ROW(cpu_counter, METRIC_TYPE_COUNTER, "process_cpu_seconds_total", "Processor time used.",
           .read = cpu_seconds);
METRIC_ROW(files_gauge, METRIC_TYPE_GAUGE, "process_open_fds", "Open files and sockets.",
           .read = open_files);
METRIC_ROW(start_gauge, METRIC_TYPE_GAUGE, "process_start_time_seconds",
           "Start of the process, in Unix time.", .read = start_time);

char *metrics_text(struct arena *arena)
{
	struct buf out = {.arena = arena};
	for (struct metric *const *row = __start_expops_metrics; row < __stop_expops_metrics; row++)
		add_metric(&out, *row);
	return out.data;
}

/* The unit that ends the name, before `_total`. */
static const char *unit_of(const char *name)
{
	static const char *const UNITS[] = {"seconds", "bytes", "usd"};
	size_t length = strlen(name);
	if (length > 6 && strcmp(name + length - 6, "_total") == 0)
		length -= 6;
	for (size_t i = 0; i < ARRAY_LEN(UNITS); i++) {
		size_t unit = strlen(UNITS[i]);
		if (length > unit && strncmp(name + length - unit, UNITS[i], unit) == 0)
			return UNITS[i];
	}
	return "";
}

static void print_metric(const struct metric *metric)
{
	printf("%s\t%s\t", metric->name, TYPE_NAMES[metric->type]);
	for (int i = 0; i < METRIC_LABELS && metric->labels[i]; i++)
		printf("%s%s", i ? "," : "", metric->labels[i]);
	printf("\t%s\t%s\n", unit_of(metric->name), metric->help);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(struct metric *const *)a)->name, (*(struct metric *const *)b)->name);
}

void metrics_print(void)
{
	size_t count = (size_t)(__stop_expops_metrics - __start_expops_metrics);
	struct arena *arena = arena_new();
	struct metric **rows = arena_array(arena, count, sizeof(struct metric *));
	memcpy(rows, __start_expops_metrics, count * sizeof(struct metric *));
	qsort(rows, count, sizeof(struct metric *), compare_names);
	for (size_t i = 0; i < count; i++)
		print_metric(rows[i]);
	arena_free(arena);
}
