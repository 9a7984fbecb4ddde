#include "base/config.h"

#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct {
	const char *text, *secret;
	int64_t count, timeout_ms, size;
	double ratio;
	bool is_on;
} values;

static const struct setting TABLE[] = {
	SETTING_TEXT(&values.text, "T_TEXT", "a text", "A text."),
	SETTING_SECRET(&values.secret, "T_SECRET", "", "A secret."),
	SETTING_INT(&values.count, "T_COUNT", "4096", 16, 1000000, "A count."),
	SETTING_FLOAT(&values.ratio, "T_RATIO", "0.5", 0, 1, "A ratio."),
	SETTING_BOOL(&values.is_on, "T_ON", "true", "A switch."),
	SETTING_MS(&values.timeout_ms, "T_TIMEOUT", "10s", 100, 3600000, "A time."),
	SETTING_BYTES(&values.size, "T_SIZE", "1MiB", 1024, 1073741824, "A size."),
	SETTING_END,
};

/* One row of each type, without bounds. */
static int64_t any_int, any_ms, any_bytes;
static double any_float;
static const struct setting UNBOUNDED[] = {
	SETTING_INT(&any_int, "T_ANY_INT", "0", 0, 0, "Any integer."),
	SETTING_FLOAT(&any_float, "T_ANY_FLOAT", "0", 0, 0, "Any number."),
	SETTING_MS(&any_ms, "T_ANY_MS", "0", 0, 0, "Any time."),
	SETTING_BYTES(&any_bytes, "T_ANY_BYTES", "0", 0, 0, "Any size."),
	SETTING_END,
};

static int64_t shared, twice, each;
static const struct setting MEMORY[] = {
	SETTING_MEMORY(&shared, "T_SHARED", "2MiB", 0, 0, 1, "Once."),
	SETTING_MEMORY(&twice, "T_TWICE", "16MiB", 0, 0, 2, "Twice."),
	SETTING_MEMORY(&each, "T_EACH", "1MiB", 0, 0, MEMORY_EACH_WORKER, "For each worker."),
	SETTING_BYTES(&any_bytes, "T_ANY_BYTES", "1GiB", 0, 0, "No memory."),
	SETTING_END,
};

static int setup(void **state attr_unused)
{
	for (const struct setting *row = TABLE; row->type != SET_END; row++)
		unsetenv(row->name);
	for (const struct setting *row = UNBOUNDED; row->type != SET_END; row++)
		unsetenv(row->name);
	memset(&values, 0, sizeof(values));
	return 0;
}

static char text[8192];

/* Load, and capture standard error in `text`. */
static enum err_code load(const struct setting *settings)
{
	struct capture capture = capture_start(STDERR_FILENO);
	enum err_code err = config_load(settings);
	capture_stop(&capture, text, sizeof(text));
	return err;
}

static void defaults_come_from_the_table(void **state attr_unused)
{
	assert_int_equal(load(TABLE), ERR_NONE);
	assert_string_equal(text, "");
	assert_string_equal(values.text, "a text");
	assert_string_equal(values.secret, "");
	assert_int_equal(values.count, 4096);
	assert_true(values.ratio == 0.5);
	assert_true(values.is_on);
	assert_int_equal(values.timeout_ms, 10000);
	assert_int_equal(values.size, 1048576);
}

static void an_empty_variable_is_unset(void **state attr_unused)
{
	setenv("T_TEXT", "", 1);
	setenv("T_COUNT", "", 1);
	assert_int_equal(load(TABLE), ERR_NONE);
	assert_string_equal(values.text, "a text");
	assert_int_equal(values.count, 4096);
}

static void valid_numbers_are_accepted(void **state attr_unused)
{
	static const struct {
		const char *name, *value;
		const int64_t *target;
		int64_t expected;
	} ROWS[] = {
		{"T_COUNT", "16", &values.count, 16},
		{"T_COUNT", "1000000", &values.count, 1000000},
		{"T_COUNT", "0017", &values.count, 17},
		{"T_ANY_INT", "-5", &any_int, -5},
		{"T_ANY_INT", "9223372036854775807", &any_int, INT64_MAX},
		{"T_ANY_INT", "-9223372036854775808", &any_int, INT64_MIN},
		{"T_TIMEOUT", "250ms", &values.timeout_ms, 250},
		{"T_TIMEOUT", "10s", &values.timeout_ms, 10000},
		{"T_TIMEOUT", "5m", &values.timeout_ms, 300000},
		{"T_TIMEOUT", "1h", &values.timeout_ms, 3600000},
		{"T_TIMEOUT", "7", &values.timeout_ms, 7000},
		{"T_ANY_MS", "0", &any_ms, 0},
		{"T_ANY_MS", "0h", &any_ms, 0},
		{"T_ANY_MS", "1000h", &any_ms, 3600000000},
		{"T_SIZE", "64KiB", &values.size, 65536},
		{"T_SIZE", "1MiB", &values.size, 1048576},
		{"T_SIZE", "1GiB", &values.size, 1073741824},
		{"T_SIZE", "5000", &values.size, 5000},
		{"T_ANY_BYTES", "8589934591GiB", &any_bytes, INT64_C(8589934591) << 30},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		setenv(ROWS[i].name, ROWS[i].value, 1);
		assert_int_equal(load(TABLE), ERR_NONE);
		assert_int_equal(load(UNBOUNDED), ERR_NONE);
		assert_int_equal(*ROWS[i].target, ROWS[i].expected);
	}
}

static void floats_booleans_and_texts_are_accepted(void **state attr_unused)
{
	static const struct {
		const char *value;
		double expected;
	} FLOATS[] = {{"0", 0},          {"1", 1},  {"0.25", 0.25},
	              {"-1.5e3", -1500}, {"+2", 2}, {".5", 0.5}};
	for (size_t i = 0; i < ARRAY_LEN(FLOATS); i++) {
		setenv("T_ANY_FLOAT", FLOATS[i].value, 1);
		assert_int_equal(load(UNBOUNDED), ERR_NONE);
		assert_true(any_float == FLOATS[i].expected);
	}
	static const char *const WORDS[] = {"true", "1", "on", "yes", "false", "0", "off", "no"};
	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
		setenv("T_ON", WORDS[i], 1);
		assert_int_equal(load(TABLE), ERR_NONE);
		assert_int_equal(values.is_on, i < 4);
	}
	setenv("T_TEXT", " as it is ", 1);
	setenv("T_SECRET", "hunter2", 1);
	assert_int_equal(load(TABLE), ERR_NONE);
	assert_string_equal(values.text, " as it is ");
	assert_string_equal(values.secret, "hunter2");
}

static void faults_name_the_variable(void **state attr_unused)
{
	static const struct {
		const char *name, *value, *line;
	} ROWS[] = {
		{"T_COUNT", "abc", "T_COUNT: \"abc\" is not an integer (16 to 1000000)\n"},
		{"T_COUNT", "15", "T_COUNT: \"15\" is out of range (16 to 1000000)\n"},
		{"T_COUNT", "1000001", "T_COUNT: \"1000001\" is out of range (16 to 1000000)\n"},
		{"T_COUNT", "-17", "T_COUNT: \"-17\" is out of range (16 to 1000000)\n"},
		{"T_RATIO", "half", "T_RATIO: \"half\" is not a number (0 to 1)\n"},
		{"T_RATIO", "1.01", "T_RATIO: \"1.01\" is out of range (0 to 1)\n"},
		{"T_ON", "maybe", "T_ON: \"maybe\" is not true or false\n"},
		{"T_TIMEOUT", "10d",
	         "T_TIMEOUT: \"10d\" is not a duration such as 250ms, 10s, 5m or 1h (100ms to "
	         "1h)\n"},
		{"T_TIMEOUT", "99ms", "T_TIMEOUT: \"99ms\" is out of range (100ms to 1h)\n"},
		{"T_SIZE", "1MB",
	         "T_SIZE: \"1MB\" is not a size such as 64KiB, 1MiB or 2GiB (1KiB to 1GiB)\n"},
		{"T_SIZE", "1023", "T_SIZE: \"1023\" is out of range (1KiB to 1GiB)\n"},
		{"T_ANY_INT", "x", "T_ANY_INT: \"x\" is not an integer\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		setenv(ROWS[i].name, ROWS[i].value, 1);
		bool is_bounded = strncmp(ROWS[i].name, "T_ANY", 5) != 0;
		assert_int_equal(load(is_bounded ? TABLE : UNBOUNDED), ERR_INVALID);
		assert_string_equal(text, ROWS[i].line);
		unsetenv(ROWS[i].name);
	}
}

static void malformed_values_are_refused(void **state attr_unused)
{
	static const struct {
		const char *name, *value;
	} ROWS[] = {
		{"T_ANY_INT", " 5"},
		{"T_ANY_INT", "5 "},
		{"T_ANY_INT", "+5"},
		{"T_ANY_INT", "0x10"},
		{"T_ANY_INT", "5.0"},
		{"T_ANY_INT", "1e3"},
		{"T_ANY_INT", "-"},
		{"T_ANY_INT", "--5"},
		{"T_ANY_INT", "9223372036854775808"},
		{"T_ANY_FLOAT", "inf"},
		{"T_ANY_FLOAT", "nan"},
		{"T_ANY_FLOAT", "0x1p3"},
		{"T_ANY_FLOAT", "1,5"},
		{"T_ANY_FLOAT", "1e"},
		{"T_ANY_FLOAT", "1e999"},
		{"T_ANY_FLOAT", " 1"},
		{"T_ANY_FLOAT", "1-2"},
		{"T_ANY_FLOAT", "."},
		{"T_ANY_MS", "-1s"},
		{"T_ANY_MS", "1.5s"},
		{"T_ANY_MS", "s"},
		{"T_ANY_MS", "1 s"},
		{"T_ANY_MS", "1S"},
		{"T_ANY_MS", "1s1"},
		{"T_ANY_MS", "9223372036854775807"},
		{"T_ANY_BYTES", "1KB"},
		{"T_ANY_BYTES", "1K"},
		{"T_ANY_BYTES", "-1"},
		{"T_ANY_BYTES", "1kib"},
		{"T_ANY_BYTES", "8589934592GiB"},
		{"T_ON", "True"},
		{"T_ON", "2"},
		{"T_ON", " on"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		setenv(ROWS[i].name, ROWS[i].value, 1);
		bool is_bounded = strncmp(ROWS[i].name, "T_ANY", 5) != 0;
		if (load(is_bounded ? TABLE : UNBOUNDED) != ERR_INVALID)
			fail_msg("taken: %s=%s", ROWS[i].name, ROWS[i].value);
		unsetenv(ROWS[i].name);
	}
}

/* Write `content` to a new file, whose path is in T_SECRET_FILE. */
static void write_secret(const char *path, const char *content, size_t length)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(content, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
	setenv("T_SECRET_FILE", path, 1);
}

static void secrets_are_read_from_files(void **state attr_unused)
{
	char path[] = "/tmp/config_test.XXXXXX";
	close(mkstemp(path));
	unsetenv("T_SECRET");
	write_secret(path, "of a file\r\n\n", 12);
	assert_int_equal(load(TABLE), ERR_NONE);
	assert_string_equal(values.secret, "of a file");

	char *large = calloc(1, 16386);
	memset(large, 's', 16385);
	write_secret(path, large, 16384);
	assert_int_equal(load(TABLE), ERR_NONE);
	assert_int_equal(strlen(values.secret), 16384);
	write_secret(path, large, 16385);
	assert_int_equal(load(TABLE), ERR_INVALID);
	assert_non_null(strstr(text, "is not a text of at most 16 KiB\n"));
	free(large);
	write_secret(path, "a\0b", 3);
	assert_int_equal(load(TABLE), ERR_INVALID);
	write_secret(path, "\n", 1);
	assert_int_equal(load(TABLE), ERR_INVALID);
	assert_non_null(strstr(text, "is empty\n"));

	write_secret(path, "of a file", 9);
	setenv("T_SECRET", "of the environment", 1);
	assert_int_equal(load(TABLE), ERR_INVALID);
	assert_string_equal(text, "T_SECRET and T_SECRET_FILE: only one of them may be set\n");
	unsetenv("T_SECRET");
	setenv("T_SECRET_FILE", "/tmp/no/such", 1);
	assert_int_equal(load(TABLE), ERR_INVALID);
	assert_string_equal(text, "T_SECRET_FILE: \"/tmp/no/such\" cannot be opened\n");
	setenv("T_SECRET_FILE", "/tmp", 1);
	assert_int_equal(load(TABLE), ERR_INVALID);
	unsetenv("T_SECRET_FILE");

	/* Only secrets have the variable. */
	setenv("T_TEXT_FILE", path, 1);
	setenv("T_TEXT", "own", 1);
	assert_int_equal(load(TABLE), ERR_NONE);
	assert_string_equal(values.text, "own");
	unsetenv("T_TEXT_FILE");
	unlink(path);
}

static void secrets_leave_the_environment(void **state attr_unused)
{
	setenv("T_SECRET", "hunter2", 1);
	setenv("T_TEXT", "a text", 1);
	const char *shown = getenv("T_SECRET");
	assert_int_equal(load(TABLE), ERR_NONE);
	config_hide_secrets(TABLE);
	assert_null(getenv("T_SECRET"));
	assert_string_equal(shown, "       ");
	assert_string_equal(values.secret, "hunter2");
	assert_string_equal(getenv("T_TEXT"), "a text");
	assert_string_equal(values.text, "a text");
	config_hide_secrets(TABLE);
}

static void every_fault_is_reported(void **state attr_unused)
{
	const char *must;
	int64_t count;
	const struct setting settings[] = {
		SETTING_TEXT(&must, "T_MUST", NULL, "Needed."),
		SETTING_INT(&count, "T_COUNT", NULL, 0, 0, "Needed too."),
		SETTING_BOOL(&values.is_on, "T_ON", "true", "A switch."),
		SETTING_END,
	};
	setenv("T_MUST", "", 1);
	setenv("T_ON", "x", 1);
	assert_int_equal(load(settings), ERR_INVALID);
	assert_string_equal(text, "T_MUST: must be set\n"
	                          "T_COUNT: must be set\n"
	                          "T_ON: \"x\" is not true or false\n");
	setenv("T_MUST", "here", 1);
	setenv("T_COUNT", "1", 1);
	setenv("T_ON", "on", 1);
	assert_int_equal(load(settings), ERR_NONE);
	assert_string_equal(must, "here");
	assert_int_equal(count, 1);
}

static void help_is_printed_from_the_table(void **state attr_unused)
{
	const char *must;
	const struct setting settings[] = {
		SETTING_INT(&values.count, "T_COUNT", "4096", 16, 1000000, "A count."),
		SETTING_SECRET(&values.secret, "T_SECRET", "shipped", "A secret."),
		SETTING_TEXT(&must, "T_MUST", NULL, "Needed."),
		SETTING_END,
	};
	struct capture capture = capture_start(STDOUT_FILENO);
	config_print_help(settings);
	capture_stop(&capture, text, sizeof(text));
	assert_string_equal(text, "  T_COUNT=4096\n"
	                          "      A count. (16 to 1000000)\n"
	                          "  T_SECRET= (secret)\n"
	                          "      A secret.\n"
	                          "  T_MUST (must be set)\n"
	                          "      Needed.\n");
}

static void values_are_printed_without_secrets(void **state attr_unused)
{
	setenv("T_SECRET", "hunter2", 1);
	setenv("T_TIMEOUT", "1500ms", 1);
	assert_int_equal(load(TABLE), ERR_NONE);
	struct capture capture = capture_start(STDOUT_FILENO);
	config_print_values(TABLE);
	capture_stop(&capture, text, sizeof(text));
	assert_string_equal(text, "T_TEXT=a text\nT_SECRET=***\nT_COUNT=4096\nT_RATIO=0.5\n"
	                          "T_ON=true\nT_TIMEOUT=1500ms\nT_SIZE=1MiB\n");

	unsetenv("T_SECRET");
	setenv("T_TIMEOUT", "2h", 1);
	assert_int_equal(load(TABLE), ERR_INVALID);
	setenv("T_TIMEOUT", "120s", 1);
	setenv("T_SIZE", "1536", 1);
	setenv("T_ON", "no", 1);
	assert_int_equal(load(TABLE), ERR_NONE);
	capture = capture_start(STDOUT_FILENO);
	config_print_values(TABLE);
	capture_stop(&capture, text, sizeof(text));
	assert_string_equal(text, "T_TEXT=a text\nT_SECRET=\nT_COUNT=4096\nT_RATIO=0.5\n"
	                          "T_ON=false\nT_TIMEOUT=2m\nT_SIZE=1536\n");
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

static void memory_is_what_may_be_taken_together(void **state attr_unused)
{
	unsetenv("T_ANY_BYTES");
	assert_int_equal(config_load(MEMORY), ERR_NONE);
	assert_int_equal(config_memory(MEMORY, 4), (2 + 2 * 16 + 4) << 20);
	setenv("T_TWICE", "1MiB", 1);
	assert_int_equal(config_load(MEMORY), ERR_NONE);
	assert_int_equal(config_memory(MEMORY, 1), (2 + 2 + 1) << 20);
	unsetenv("T_TWICE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(defaults_come_from_the_table),
		TEST(an_empty_variable_is_unset),
		TEST(valid_numbers_are_accepted),
		TEST(floats_booleans_and_texts_are_accepted),
		TEST(faults_name_the_variable),
		TEST(malformed_values_are_refused),
		TEST(secrets_are_read_from_files),
		TEST(secrets_leave_the_environment),
		TEST(every_fault_is_reported),
		TEST(help_is_printed_from_the_table),
		TEST(values_are_printed_without_secrets),
		TEST(memory_is_what_may_be_taken_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
