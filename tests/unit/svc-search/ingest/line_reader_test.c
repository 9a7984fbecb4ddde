#include "ingest/line_reader.h"

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
	snprintf(path, sizeof(path), "/tmp/line-reader-XXXXXX");
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

static struct line_reader *open_plain(const char *data, size_t length)
{
	FILE *file = fopen(path, "wb");
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
	struct line_reader *reader = line_reader_open(path);
	assert_non_null(reader);
	return reader;
}

static void expect_text(struct line_reader *reader, const char *text, size_t length)
{
	const char *line;
	size_t line_length;
	assert_int_equal(line_reader_next(reader, &line, &line_length), LINE_TEXT);
	assert_int_equal(line_length, length);
	assert_memory_equal(line, text, length);
}

static void expect_end(struct line_reader *reader, enum line_kind kind)
{
	const char *line;
	size_t length;
	assert_int_equal(line_reader_next(reader, &line, &length), kind);
	assert_int_equal(line_reader_next(reader, &line, &length), kind);
	line_reader_close(reader);
}

static void test_line_ends(void **state)
{
	static const char DATA[] = "a\n\nb\r\n\r\nc\rd\n\0e\nlast";
	(void)state;
	struct line_reader *reader = open_plain(DATA, sizeof(DATA) - 1);
	expect_text(reader, "a", 1);
	assert_int_equal(line_reader_number(reader), 1);
	expect_text(reader, "", 0);
	expect_text(reader, "b", 1);
	expect_text(reader, "", 0);
	expect_text(reader, "c\rd", 3);
	expect_text(reader, "\0e", 2);
	expect_text(reader, "last", 4);
	assert_int_equal(line_reader_number(reader), 7);
	expect_end(reader, LINE_END);
}

static void test_empty_file(void **state)
{
	(void)state;
	expect_end(open_plain("", 0), LINE_END);
}

static void test_missing_file(void **state)
{
	(void)state;
	assert_null(line_reader_open("/no/such/file"));
	assert_int_equal(errno, ENOENT);
	line_reader_close(NULL);
}

static void test_folder(void **state)
{
	(void)state;
	struct line_reader *reader = line_reader_open("/tmp");
	assert_non_null(reader);
	const char *line;
	size_t length;
	assert_int_equal(line_reader_next(reader, &line, &length), LINE_ERROR);
	assert_string_equal(line_reader_error(reader), "Is a directory");
	line_reader_close(reader);
}

/* Lines of about the maximum length, each followed by a short one. */
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
			struct line_reader *reader = open_plain(data, length + end + 5);
			enum line_kind kind = line_reader_next(reader, &line, &line_length);
			assert_int_equal(kind, length > LINE_MAX_BYTES ? LINE_TOO_LONG : LINE_TEXT);
			if (kind == LINE_TEXT)
				assert_int_equal(line_length, length);
			expect_text(reader, "after", 5);
			expect_end(reader, LINE_END);
		}
	}
	free(data);
}

static void test_too_long_last_line(void **state)
{
	(void)state;
	char *data = malloc(3 * LINE_MAX_BYTES);
	memset(data, 'x', 3 * LINE_MAX_BYTES);
	struct line_reader *reader = open_plain(data, 3 * LINE_MAX_BYTES);
	const char *line;
	size_t length;
	assert_int_equal(line_reader_next(reader, &line, &length), LINE_TOO_LONG);
	assert_int_equal(line_reader_number(reader), 1);
	expect_end(reader, LINE_END);
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
	struct line_reader *reader = line_reader_open(path);
	const char *line;
	size_t length, count = 0;
	double progress = 0;
	while (line_reader_next(reader, &line, &length) == LINE_TEXT) {
		count++;
		double now = line_reader_progress(reader);
		assert_true(now >= progress && now <= 1);
		progress = now;
	}
	assert_int_equal(count, 100000);
	expect_end(reader, LINE_END);
}

/* The lines before the cut are returned, then LINE_ERROR. */
static void test_truncated_gzip(void **state)
{
	(void)state;
	write_gzip(100000);
	assert_int_equal(truncate(path, 300000), 0);
	struct line_reader *reader = line_reader_open(path);
	const char *line;
	size_t length, count = 0;
	while (line_reader_next(reader, &line, &length) == LINE_TEXT)
		count++;
	assert_in_range(count, 1000, 99999);
	assert_string_equal(line_reader_error(reader), "unexpected end of file");
	expect_end(reader, LINE_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_line_ends, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_empty_file, make_path, remove_path),
		cmocka_unit_test(test_missing_file),
		cmocka_unit_test(test_folder),
		cmocka_unit_test_setup_teardown(test_long_lines, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_too_long_last_line, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_gzip, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_truncated_gzip, make_path, remove_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
