#include "observe/fault.h"

#include "capture.h"

#include <string.h>

static const struct fault ROWS[] = {
	{"", ERR_UNAVAILABLE, "it does not answer", "the shop does not answer"},
	{"5", ERR_UNAVAILABLE, "it lacks something", "the shop lacks something"},
	{"53", ERR_UNAVAILABLE, "it is full", "the shop is full"},
	{"22", ERR_INVALID, "a value is wrong", NULL},
};
static struct fault_count counts[ARRAY_LEN(ROWS)];
static const struct fault_table TABLE = {"test", ROWS, counts, ARRAY_LEN(ROWS)};

static char log_text[8192];

/* Report the row `times` times; returns the number of lines in `log_text`. */
static int report(size_t row, int times)
{
	struct capture output = capture_start(STDOUT_FILENO);
	for (int i = 0; i < times; i++)
		fault_report(&TABLE, &ROWS[row], "53100", "no room");
	capture_stop(&output, log_text, sizeof(log_text));
	int lines = 0;
	for (const char *at = log_text; (at = strchr(at, '\n')); at++)
		lines++;
	return lines;
}

static void test_the_longest_match_counts(void **state)
{
	(void)state;
	assert_ptr_equal(fault_find(&TABLE, "53100"), &ROWS[2]);
	assert_ptr_equal(fault_find(&TABLE, "58030"), &ROWS[1]);
	assert_ptr_equal(fault_find(&TABLE, "22012"), &ROWS[3]);
	assert_null(fault_find(&TABLE, "08000"));
	assert_null(fault_find(&TABLE, ""));
}

static void test_a_kind_is_logged_once_in_an_interval(void **state)
{
	(void)state;
	assert_false(fault_is_recent(&TABLE, 2));
	assert_int_equal(report(2, 1000), 1);
	assert_non_null(strstr(log_text, "\"message\":\"the shop is full\""));
	assert_non_null(
		strstr(log_text, "\"error_code\":\"53100\",\"reason\":\"no room\",\"count\":1"));
	assert_true(fault_is_recent(&TABLE, 2));
	assert_false(fault_is_recent(&TABLE, 1));

	assert_int_equal(report(1, 1), 1); /* another kind */
	counts[2].log_next_ms = 0;         /* the interval is over */
	assert_int_equal(report(2, 1), 1);
	assert_non_null(strstr(log_text, "\"count\":1000"));
}

static void test_a_wrong_statement_is_no_fault_of_the_server(void **state)
{
	(void)state;
	assert_int_equal(report(3, 2), 0);
	assert_false(fault_is_recent(&TABLE, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_longest_match_counts),
		cmocka_unit_test(test_a_kind_is_logged_once_in_an_interval),
		cmocka_unit_test(test_a_wrong_statement_is_no_fault_of_the_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
