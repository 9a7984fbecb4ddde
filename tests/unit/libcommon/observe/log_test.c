#include "observe/log.h"

#include "arena_fixture.h"
#include "base/timefmt.h"
#include "capture.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Start and stop capturing standard output; the text is in the arena. */
static struct capture output;

static void start(const char *levels)
{
	assert_int_equal(log_init("svc-test", levels), ERR_NONE);
	output = capture_start(STDOUT_FILENO);
}

static char *stop(void)
{
	size_t size = 1 << 20;
	char *text = arena_alloc(arena, size);
	capture_stop(&output, text, size);
	return text;
}

/* The only line written, parsed. */
static yyjson_val *stop_line(void)
{
	char *text = stop();
	size_t length = strlen(text);
	assert_true(length > 0);
	assert_ptr_equal(strchr(text, '\n'), text + length - 1);
	yyjson_val *root;
	assert_int_equal(json_parse(arena, text, length, &root, NULL), ERR_NONE);
	return root;
}

static void a_line_has_all_members(void **state attr_unused)
{
	int64_t before = time_now_ms(), at;
	start("info");
	log_event("http", LOG_INFO, "request finished", f_text("path", "/a\"b\n"),
	          f_int("status", 200), f_ms("duration_ms", 1500), f_bool("is_cached", true),
	          f_text("query", NULL), f_int("most", INT64_MAX), f_int("least", INT64_MIN));
	yyjson_val *line = stop_line();
	const char *time = json_get_text(line, "time");
	assert_true(time_parse(time, strlen(time), &at));
	assert_in_range(at, before, time_now_ms());
	assert_string_equal(json_get_text(line, "level"), "info");
	assert_string_equal(json_get_text(line, "process"), "svc-test");
	assert_string_equal(json_get_text(line, "group"), "http");
	assert_string_equal(json_get_text(line, "message"), "request finished");
	assert_null(json_get(line, "request_id"));
	assert_string_equal(json_get_text(line, "path"), "/a\"b\n");
	assert_int_equal(json_get_int(line, "status", 0), 200);
	assert_true(json_get_float(line, "duration_ms", 0) == 1.5);
	assert_true(json_get_bool(line, "is_cached", false));
	assert_true(yyjson_is_null(json_get(line, "query")));
	assert_true(json_get_int(line, "most", 0) == INT64_MAX);
	assert_true(json_get_int(line, "least", 0) == INT64_MIN);
}

static void the_request_id_stays_until_changed(void **state attr_unused)
{
	log_set_request_id("req-\"1");
	start("info");
	log_warn("one");
	yyjson_val *line = stop_line();
	assert_string_equal(json_get_text(line, "request_id"), "req-\"1");
	assert_string_equal(json_get_text(line, "level"), "warn");
	log_set_request_id(NULL);
	start("info");
	log_error("two");
	line = stop_line();
	assert_null(json_get(line, "request_id"));
	assert_string_equal(json_get_text(line, "level"), "error");
}

static void floats_are_always_json(void **state attr_unused)
{
	start("info");
	log_info("floats", f_float("nan", NAN), f_float("inf", INFINITY), f_float("large", 1e300),
	         f_float("small", -1e-300), f_float("zero", 0.0), f_float("whole", 123456789.0));
	yyjson_val *line = stop_line();
	assert_true(yyjson_is_null(json_get(line, "nan")));
	assert_true(yyjson_is_null(json_get(line, "inf")));
	assert_true(json_get_float(line, "large", 0) == 1e300);
	assert_true(json_get_float(line, "small", 0) == -1e-300);
	assert_true(json_get_float(line, "zero", 1) == 0);
	assert_true(json_get_float(line, "whole", 0) == 123456789);
}

static void durations_are_exact(void **state attr_unused)
{
	start("info");
	log_info("times", f_ms("none", 0), f_ms("short", 7), f_ms("long", 3600000042));
	assert_non_null(strstr(stop(), ",\"none\":0.000,\"short\":0.007,\"long\":3600000.042}"));
}

static void long_text_is_cut_at_a_character(void **state attr_unused)
{
	/* Characters with the longest escapes, and of several bytes. */
	static const char *const UNITS[] = {"\x01", "\xe2\x82\xac", "a\xf0\x9f\x98\x80", "\""};
	for (size_t i = 0; i < ARRAY_LEN(UNITS); i++) {
		struct buf text = {.arena = arena};
		while (text.length < 10000)
			buf_puts(&text, UNITS[i]);
		start("info");
		log_info("long", f_text("first", text.data), f_text("second", text.data),
		         f_int("last", 7));
		char *written = stop();
		assert_in_range(strlen(written), 1000, 4096);
		assert_null(strstr(written, "\xef\xbf\xbd"));
		yyjson_val *line;
		assert_int_equal(json_parse(arena, written, strlen(written), &line, NULL),
		                 ERR_NONE);
		const char *first = json_get_text(line, "first");
		assert_memory_equal(first, text.data, strlen(first));
		assert_true(strlen(first) > 200);
		assert_int_equal(json_get_int(line, "last", 0), 7);
	}
}

static void text_that_is_not_utf8_is_repaired(void **state attr_unused)
{
	start("info");
	log_info("foreign", f_text("text", "a\xff"));
	assert_string_equal(json_get_text(stop_line(), "text"), "a\xef\xbf\xbd");
}

static void levels_apply_to_groups(void **state attr_unused)
{
	static const struct {
		const char *levels;
		const char *group;
		enum log_level lowest;
	} ROWS[] = {
		{"info", "main", LOG_INFO},
		{"debug", "proxy", LOG_DEBUG},
		{"error", "notify", LOG_ERROR},
		{"info,notify=debug", "notify", LOG_DEBUG},
		{"info,pg=debug,http=warn", "pg", LOG_DEBUG},
		{"info,pg=debug,http=warn", "http", LOG_WARN},
		{"info,pg=debug,http=warn", "redis", LOG_INFO},
		{"warn,redis=error", "redis", LOG_ERROR},
		{"warn,redis=error", "fetch", LOG_WARN},
		{"warn,jobs=error,jobs=debug", "jobs", LOG_DEBUG},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		assert_int_equal(log_init("svc-test", ROWS[i].levels), ERR_NONE);
		for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
			assert_int_equal(log_enabled(ROWS[i].group, (enum log_level)level),
			                 level >= (int)ROWS[i].lowest);
	}
}

static void bad_levels_are_refused_and_change_nothing(void **state attr_unused)
{
	static const char *const LEVELS[] = {
		"",
		"loud",
		"INFO",
		"info ",
		" info",
		"info,",
		",info",
		"pg=debug",
		"info,pg",
		"info,pg=",
		"info,=warn",
		"info,db=warn",
		"info,pg=deb",
		"info,,",
		"info,pg=debug,",
		"info pg=debug",
		"info,pg=debug=warn",
		"inf",
		"infos",
		"info,p=debug",
		"debug,debug",
	};
	assert_int_equal(log_init("svc-test", "warn"), ERR_NONE);
	for (size_t i = 0; i < ARRAY_LEN(LEVELS); i++) {
		if (log_init("other", LEVELS[i]) != ERR_INVALID)
			fail_msg("taken: %s", LEVELS[i]);
		assert_false(log_enabled("pg", LOG_INFO));
		assert_true(log_enabled("pg", LOG_WARN));
	}
}

static int evaluated;

static int64_t count_evaluation(void)
{
	return ++evaluated;
}

static void disabled_levels_do_not_evaluate_fields(void **state attr_unused)
{
	evaluated = 0;
	start("info,pg=debug");
	log_debug("off", f_int("n", count_evaluation()));
	assert_int_equal(evaluated, 0);
	log_event("pg", LOG_DEBUG, "on", f_int("n", count_evaluation()));
	assert_int_equal(evaluated, 1);
	assert_string_equal(json_get_text(stop_line(), "message"), "on");
}

static void what_a_restore_undoes_is_written_at_every_level(void **state attr_unused)
{
	start("error");
	log_info("one");
	log_always("two", f_text("key_id", "a"));
	yyjson_val *line = stop_line();
	assert_string_equal(json_get_text(line, "message"), "two");
	assert_string_equal(json_get_text(line, "level"), "info");
	assert_string_equal(json_get_text(line, "key_id"), "a");
}

static void errno_is_kept(void **state attr_unused)
{
	start("info");
	int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
	dup2(full, STDOUT_FILENO);
	errno = ENOENT;
	log_info("lost");
	int after = errno;
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(full);
	assert_int_equal(after, ENOENT);
	assert_string_equal(stop(), "");
}

#define THREADS    4
#define PER_THREAD 500

static void *write_many(void *name)
{
	log_set_request_id(name);
	for (int i = 0; i < PER_THREAD; i++)
		log_info("from a thread", f_text("name", name), f_int("i", i));
	return NULL;
}

static void lines_of_threads_do_not_mix(void **state attr_unused)
{
	static char names[THREADS][2] = {"a", "b", "c", "d"};
	pthread_t threads[THREADS];
	start("info");
	/* O_APPEND, as for a log file: each write(2) goes to the end. */
	fcntl(STDOUT_FILENO, F_SETFL, O_APPEND);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, names[i]), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	char *text = stop();
	int64_t next[THREADS] = {0};
	for (char *line = text, *end; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		yyjson_val *root;
		assert_int_equal(json_parse(arena, line, (size_t)(end - line), &root, NULL),
		                 ERR_NONE);
		const char *name = json_get_text(root, "name");
		assert_string_equal(json_get_text(root, "request_id"), name);
		assert_int_equal(json_get_int(root, "i", -1), next[name[0] - 'a']++);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(next[i], PER_THREAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(a_line_has_all_members),
		ARENA_TEST(the_request_id_stays_until_changed),
		ARENA_TEST(floats_are_always_json),
		ARENA_TEST(durations_are_exact),
		ARENA_TEST(long_text_is_cut_at_a_character),
		ARENA_TEST(text_that_is_not_utf8_is_repaired),
		ARENA_TEST(levels_apply_to_groups),
		ARENA_TEST(bad_levels_are_refused_and_change_nothing),
		ARENA_TEST(disabled_levels_do_not_evaluate_fields),
		ARENA_TEST(what_a_restore_undoes_is_written_at_every_level),
		ARENA_TEST(errno_is_kept),
		ARENA_TEST(lines_of_threads_do_not_mix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
