#include "ingest/lines.h"

#include "base/base.h"

#include <zlib.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/lines-XXXXXX");
	int file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static struct lines *open_plain(const char *data, size_t length)
{
	FILE *file = fopen(path, "wb");
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
	struct lines *lines = lines_open(path);
	assert_non_null(lines);
	return lines;
}

static void expect_text(struct lines *lines, const char *text, size_t length)
{
	const char *line;
	size_t line_length;
	assert_int_equal(lines_next(lines, &line, &line_length), LINE_TEXT);
	assert_int_equal(line_length, length);
	assert_memory_equal(line, text, length);
}

static void expect_end(struct lines *lines, enum line_kind kind)
{
	const char *line;
	size_t length;
	assert_int_equal(lines_next(lines, &line, &length), kind);
	assert_int_equal(lines_next(lines, &line, &length), kind);
	lines_close(lines);
}

static void test_ends_of_lines(void **state)
{
	static const char DATA[] = "a\n\nb\r\n\r\nc\rd\n\0e\nlast";
	(void)state;
	struct lines *lines = open_plain(DATA, sizeof(DATA) - 1);
	expect_text(lines, "a", 1);
	assert_int_equal(lines_number(lines), 1);
	expect_text(lines, "", 0);
	expect_text(lines, "b", 1);
	expect_text(lines, "", 0);
	expect_text(lines, "c\rd", 3);
	expect_text(lines, "\0e", 2);
	expect_text(lines, "last", 4);
	assert_int_equal(lines_number(lines), 7);
	expect_end(lines, LINE_NONE);
}

static void test_empty(void **state)
{
	(void)state;
	expect_end(open_plain("", 0), LINE_NONE);
}

static void test_absent(void **state)
{
	(void)state;
	assert_null(lines_open("/no/such/file"));
	assert_int_equal(errno, ENOENT);
	lines_close(NULL);
}

static void test_a_folder(void **state)
{
	(void)state;
	struct lines *lines = lines_open("/tmp");
	assert_non_null(lines);
	const char *line;
	size_t length;
	assert_int_equal(lines_next(lines, &line, &length), LINE_BROKEN);
	assert_string_equal(lines_error(lines), "Is a directory");
	lines_close(lines);
}

/* Lines about as long as one may be, each followed by a short one. */
static void test_long_lines(void **state)
{
	static const char *const ENDS[] = {"\n", "\r\n"};
	(void)state;
	char *data = malloc(3 * LINE_MAX_BYTES);
	for (size_t i = 0; i < ARRAY_LEN(ENDS); i++) {
		for (size_t length = LINE_MAX_BYTES - 3; length < LINE_MAX_BYTES + 4; length++) {
			const char *line;
			size_t line_length, end = strlen(ENDS[i]);
			memset(data, 'x', length);
			memcpy(data + length, ENDS[i], end);
			memcpy(data + length + end, "after", 5);
			struct lines *lines = open_plain(data, length + end + 5);
			enum line_kind kind = lines_next(lines, &line, &line_length);
			assert_int_equal(kind, length > LINE_MAX_BYTES ? LINE_TOO_LONG : LINE_TEXT);
			if (kind == LINE_TEXT)
				assert_int_equal(line_length, length);
			expect_text(lines, "after", 5);
			expect_end(lines, LINE_NONE);
		}
	}
	free(data);
}

static void test_a_last_line_that_is_too_long(void **state)
{
	(void)state;
	char *data = malloc(3 * LINE_MAX_BYTES);
	memset(data, 'x', 3 * LINE_MAX_BYTES);
	struct lines *lines = open_plain(data, 3 * LINE_MAX_BYTES);
	const char *line;
	size_t length;
	assert_int_equal(lines_next(lines, &line, &length), LINE_TOO_LONG);
	assert_int_equal(lines_number(lines), 1);
	expect_end(lines, LINE_NONE);
	free(data);
}

static void write_gzip(int count)
{
	gzFile file = gzopen(path, "wb");
	for (int i = 0; i < count; i++)
		gzprintf(file, "line %d of many, %x\n", i, (unsigned)i * 2654435761u);
	assert_int_equal(gzclose(file), Z_OK);
}

static void test_gzip(void **state)
{
	(void)state;
	write_gzip(100000);
	struct lines *lines = lines_open(path);
	const char *line;
	size_t length, count = 0;
	double part = 0;
	while (lines_next(lines, &line, &length) == LINE_TEXT) {
		count++;
		assert_true(lines_part(lines) >= part && lines_part(lines) <= 1);
		part = lines_part(lines);
	}
	assert_int_equal(count, 100000);
	expect_end(lines, LINE_NONE);
}

/* A file that was cut gives what it has, and says that it is broken. */
static void test_cut_gzip(void **state)
{
	(void)state;
	write_gzip(100000);
	assert_int_equal(truncate(path, 300000), 0);
	struct lines *lines = lines_open(path);
	const char *line;
	size_t length, count = 0;
	while (lines_next(lines, &line, &length) == LINE_TEXT)
		count++;
	assert_in_range(count, 1000, 99999);
	assert_string_equal(lines_error(lines), "unexpected end of file");
	expect_end(lines, LINE_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ends_of_lines, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_empty, make_path, remove_path),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_a_folder),
		cmocka_unit_test_setup_teardown(test_long_lines, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_a_last_line_that_is_too_long, make_path,
	                                        remove_path),
		cmocka_unit_test_setup_teardown(test_gzip, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_cut_gzip, make_path, remove_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
