#include "observe/metrics.h"

#include "arena_fixture.h"
#include "base/timefmt.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);
	if (!at || (at > text && at[-1] != '\n') || at[strlen(line)] != '\n')
		fail_msg("no line %s in:\n%s", line, text);
}

/* The value after `name` at the start of a line. */
static double value_of(const char *text, const char *name)
{
	const char *at = strstr(text, arena_printf(arena, "\n%s ", name));
	assert_non_null(at);
	return strtod(at + strlen(name) + 2, NULL);
}

METRIC_COUNTER(plain, "t_plain_total", "Plain.");

static void a_metric_without_labels_begins_at_zero(void **state attr_unused)
{
	assert_line(metrics_text(arena), "t_plain_total 0");
	metric_add(&plain, NULL, NULL, 1);
	metric_add(&plain, NULL, NULL, 2);
	char *text = metrics_text(arena);
	assert_line(text, "# HELP t_plain_total Plain.");
	assert_line(text, "# TYPE t_plain_total counter");
	assert_line(text, "t_plain_total 3");
}

/* What print() writes to standard output; in the arena. */
static char *printed(void (*print)(void))
{
	char *text = arena_alloc(arena, 1 << 16);
	int kept = dup(STDOUT_FILENO);
	FILE *file = tmpfile();
	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	print();
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	rewind(file);
	text[fread(text, 1, (1 << 16) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void the_table_is_printed(void **state attr_unused)
{
	char *text = printed(metrics_print);
	assert_line(text, "t_plain_total\tcounter\t\t\tPlain.");
	assert_line(text, "t_labelled_total\tcounter\toperation,status\t\tLabelled.");
	assert_line(text, "t_seconds\thistogram\toperation\tseconds\tTime.");
	assert_line(text, "process_cpu_seconds_total\tcounter\t\tseconds\tProcessor time used.");
	assert_true(strstr(text, "process_open_fds") < strstr(text, "t_gauge"));
}

METRIC_COUNTER(labelled, "t_labelled_total", "Labelled.", "operation", "status");

static void labels_make_series(void **state attr_unused)
{
	char *text = metrics_text(arena);
	assert_line(text, "# TYPE t_labelled_total counter");
	assert_null(strstr(text, "\nt_labelled_total"));

	static char same_text[] = "get"; /* another address, the same label */
	metric_add(&labelled, "get", "2xx", 1);
	metric_add(&labelled, "get", "4xx", 1);
	metric_add(&labelled, "put", "2xx", 0.5);
	metric_add(&labelled, same_text, "2xx", 1);
	metric_add(&labelled, "get", NULL, 7);
	text = metrics_text(arena);
	assert_non_null(strstr(text, "t_labelled_total{operation=\"get\",status=\"2xx\"} 2\n"
	                             "t_labelled_total{operation=\"get\",status=\"4xx\"} 1\n"
	                             "t_labelled_total{operation=\"put\",status=\"2xx\"} 0.5\n"
	                             "t_labelled_total{operation=\"get\"} 7\n"));
}

METRIC_GAUGE(gauge, "t_gauge", "One \\ two\nthree \"four\".", "name");

static void gauges_are_set_and_text_is_escaped(void **state attr_unused)
{
	metric_set(&gauge, "a\"b\\c\nd", NULL, 5);
	metric_add(&gauge, "a\"b\\c\nd", NULL, -1.5);
	metric_set(&gauge, "inf", NULL, INFINITY);
	metric_set(&gauge, "less", NULL, -INFINITY);
	metric_set(&gauge, "nan", NULL, NAN);
	metric_set(&gauge, "tenth", NULL, 0.1);
	metric_set(&gauge, "large", NULL, 9007199254740993.0);
	char *text = metrics_text(arena);
	assert_line(text, "# HELP t_gauge One \\\\ two\\nthree \"four\".");
	assert_line(text, "# TYPE t_gauge gauge");
	assert_line(text, "t_gauge{name=\"a\\\"b\\\\c\\nd\"} 3.5");
	assert_line(text, "t_gauge{name=\"inf\"} +Inf");
	assert_line(text, "t_gauge{name=\"less\"} -Inf");
	assert_line(text, "t_gauge{name=\"nan\"} NaN");
	assert_line(text, "t_gauge{name=\"tenth\"} 0.1");
	assert_line(text, "t_gauge{name=\"large\"} 9007199254740992");
}

METRIC_HISTOGRAM(seconds, "t_seconds", "Time.", "operation");

static void histograms_count_into_buckets(void **state attr_unused)
{
	static const double OBSERVED[] = {0, 0.0005, 0.00051, 0.001, 1, 65.536, 65.6, 1000};
	for (size_t i = 0; i < ARRAY_LEN(OBSERVED); i++)
		metric_observe_seconds(&seconds, "get", NULL, OBSERVED[i]);
	char *text = metrics_text(arena);
	assert_line(text, "# TYPE t_seconds histogram");
	static const struct {
		const char *limit;
		int count;
	} ROWS[] = {
		{"0.0005", 2}, {"0.001", 4},  {"0.002", 4},  {"0.004", 4}, {"0.008", 4},
		{"0.016", 4},  {"0.032", 4},  {"0.064", 4},  {"0.128", 4}, {"0.256", 4},
		{"0.512", 4},  {"1.024", 5},  {"2.048", 5},  {"4.096", 5}, {"8.192", 5},
		{"16.384", 5}, {"32.768", 5}, {"65.536", 6}, {"+Inf", 8},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_line(text,
		            arena_printf(arena, "t_seconds_bucket{operation=\"get\",le=\"%s\"} %d",
		                         ROWS[i].limit, ROWS[i].count));
	assert_line(text, "t_seconds_count{operation=\"get\"} 8");
	assert_non_null(strstr(text, "t_seconds_sum{operation=\"get\"} 1132.13"));
}

METRIC_COUNTER(raced, "t_raced_total", "Raced.", "a", "b");
METRIC_HISTOGRAM(raced_seconds, "t_raced_seconds", "Raced.");

#define THREADS    4
#define PER_THREAD 20000

static void *count_many(void *unused attr_unused)
{
	static const char *const LABELS[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
	for (int i = 0; i < PER_THREAD; i++) {
		metric_add(&raced, LABELS[i % 10], LABELS[i / 10 % 10], 1);
		metric_observe_seconds(&raced_seconds, NULL, NULL, 0.25);
	}
	return NULL;
}

static void nothing_is_lost_between_threads(void **state attr_unused)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_many, NULL), 0);
	metrics_text(arena); /* while the threads count */
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	char *text = metrics_text(arena);
	for (int a = 0; a < 10; a++) {
		for (int b = 0; b < 10; b++)
			assert_line(text, arena_printf(arena, "t_raced_total{a=\"%d\",b=\"%d\"} %d",
			                               a, b, THREADS * PER_THREAD / 100));
	}
	int series = 0;
	for (char *at = text; (at = strstr(at, "\nt_raced_total{")); at++)
		series++;
	assert_int_equal(series, 100);
	assert_line(text, "t_raced_seconds_bucket{le=\"0.256\"} 80000");
	assert_line(text, "t_raced_seconds_bucket{le=\"0.128\"} 0");
	assert_line(text, "t_raced_seconds_sum 20000");
	assert_line(text, "t_raced_seconds_count 80000");
}

METRIC_COUNTER(many, "t_many_total", "Many.", "a");

static void more_series_than_the_cache_holds(void **state attr_unused)
{
	static char labels[1000][8];
	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < 1000; i++) {
			snprintf(labels[i], sizeof(labels[i]), "l%d", i);
			metric_add(&many, labels[i], NULL, i);
		}
	}
	char *text = metrics_text(arena);
	for (int i = 0; i < 1000; i++)
		assert_line(text, arena_printf(arena, "t_many_total{a=\"l%d\"} %d", i, 3 * i));
}

static void process_metrics_are_exposed(void **state attr_unused)
{
	char *text = metrics_text(arena);
	assert_line(text, "# TYPE process_resident_memory_bytes gauge");
	assert_line(text, "# TYPE process_cpu_seconds_total counter");
	double memory = value_of(text, "process_resident_memory_bytes");
	assert_true(memory > 500e3 && memory < 100e9);
	double start = value_of(text, "process_start_time_seconds");
	double now = (double)time_now_ms() / 1000;
	assert_true(start <= now && start > now - 3600);
	double cpu = value_of(text, "process_cpu_seconds_total");
	assert_true(cpu > 0 && cpu < 3600);

	double before = value_of(text, "process_open_fds");
	int open_files = 0;
	for (int fd = 0; fd < 1024; fd++)
		open_files += fcntl(fd, F_GETFD) >= 0;
	assert_true(before == open_files);
	int one = dup(0), other = dup(0);
	assert_true(value_of(metrics_text(arena), "process_open_fds") == before + 2);
	close(one);
	close(other);
	assert_true(value_of(metrics_text(arena), "process_open_fds") == before);
}

/* `# HELP`, `# TYPE` or `name{...} value`. */
static void every_line_is_valid(void **state attr_unused)
{
	char *text = metrics_text(arena);
	assert_int_equal(text[strlen(text) - 1], '\n');
	for (char *line = text, *end; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		if (memcmp(line, "# HELP ", 7) == 0 || memcmp(line, "# TYPE ", 7) == 0)
			continue;
		size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_");
		assert_true(name > 0);
		assert_true(line[name] == ' ' || line[name] == '{');
		char *value = arena_strndup(arena, line, (size_t)(end - line));
		value = strrchr(value, ' ') + 1;
		char *rest;
		strtod(value, &rest);
		assert_true(rest > value && *rest == '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(a_metric_without_labels_begins_at_zero),
		ARENA_TEST(the_table_is_printed),
		ARENA_TEST(labels_make_series),
		ARENA_TEST(gauges_are_set_and_text_is_escaped),
		ARENA_TEST(histograms_count_into_buckets),
		ARENA_TEST(nothing_is_lost_between_threads),
		ARENA_TEST(more_series_than_the_cache_holds),
		ARENA_TEST(process_metrics_are_exposed),
		ARENA_TEST(every_line_is_valid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
