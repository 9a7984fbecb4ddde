#include "observe/log_writer.h"

#include "arena_fixture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LINES_MORE (4 * LOG_WAITING_BYTES / 100) /* a line has about 100 bytes; twice the memory */

static int reader;

static void dropped_line(struct buf *line, uint64_t count)
{
	buf_printf(line, "dropped %" PRIu64 "\n", count);
}

static void add_line(int number)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "line %d %090d\n", number, 0);
	assert_true(log_writer_add(line, (size_t)length, number % 100 == 99));
}

static int start_writer(void **state attr_unused)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	reader = ends[0];
	assert_false(log_writer_add("too early\n", 10, true));
	log_writer_start(ends[1], dropped_line);
	return 0;
}

/* Read lines until `last` is among them. Returns the number of lines, checked to be in order, plus
 * the number of dropped ones. */
static int read_lines(FILE *log, int last)
{
	char *line = NULL;
	size_t room = 0;
	int next = 0, number, dropped;
	while (next <= last) {
		assert_true(getline(&line, &room, log) > 0);
		if (sscanf(line, "line %d", &number) == 1) {
			assert_int_equal(number, next);
			next++;
		} else {
			assert_int_equal(sscanf(line, "dropped %d", &dropped), 1);
			assert_true(dropped > 0);
			next += dropped;
		}
	}
	free(line);
	return next;
}

/* Nobody reads the pipe while the lines are added: adding must not wait. */
static void lines_are_dropped_while_nobody_reads(void **state attr_unused)
{
	for (int i = 0; i < LINES_MORE; i++)
		add_line(i);
	log_writer_flush(1);
	FILE *log = fdopen(dup(reader), "r");
	assert_int_equal(read_lines(log, LINES_MORE - 1), LINES_MORE);
	fclose(log);
}

static void flush_waits_until_lines_are_written(void **state attr_unused)
{
	char text[256];
	add_line(0);
	log_writer_flush(100000);
	fcntl(reader, F_SETFL, O_NONBLOCK);
	assert_in_range(read(reader, text, sizeof(text)), 90, 128);
	assert_memory_equal(text, "line 0 ", 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(lines_are_dropped_while_nobody_reads),
		ARENA_TEST(flush_waits_until_lines_are_written),
	};
	return cmocka_run_group_tests(tests, start_writer, NULL);
}
