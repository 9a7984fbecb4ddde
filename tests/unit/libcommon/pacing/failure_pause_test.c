#include "pacing/failure_pause.h"

#include "base/base.h"
#include "base/timefmt.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* How long the pause that began now lasts. */
static uint64_t pause_of(struct failure_pause *pause, uint64_t retry_after_ms)
{
	pause->until_ms = 0; /* the one before is over */
	uint64_t now_ms = time_monotonic_ms();
	failure_pause_failed(pause, retry_after_ms);
	return pause->until_ms - now_ms;
}

static void test_the_pause_grows_up_to_half_a_minute(void **state)
{
	(void)state;
	struct failure_pause pause = {0};
	assert_in_range(pause_of(&pause, 0), 250, 1000);
	assert_in_range(pause_of(&pause, 0), 500, 1500);
	for (int i = 0; i < 20; i++)
		pause_of(&pause, 0);
	assert_in_range(pause_of(&pause, 0), 15000, 30500);
}

static void test_the_server_may_ask_for_more(void **state)
{
	(void)state;
	struct failure_pause pause = {0};
	assert_in_range(pause_of(&pause, 9000), 9000, 9500);
	assert_in_range(pause_of(&pause, 900000), 30000, 30500);
}

static void test_failures_during_a_pause_do_not_count(void **state)
{
	(void)state;
	struct failure_pause pause = {0};
	assert_false(failure_pause_is_on(&pause));
	assert_true(failure_pause_failed(&pause, 20000));
	assert_true(failure_pause_is_on(&pause));
	assert_false(failure_pause_failed(&pause, 20000));
	assert_int_equal(pause.failures, 1);
}

static void test_a_success_ends_it(void **state)
{
	(void)state;
	struct failure_pause pause = {0};
	assert_false(failure_pause_succeeded(&pause));
	failure_pause_failed(&pause, 20000);
	assert_true(failure_pause_succeeded(&pause));
	assert_false(failure_pause_is_on(&pause));
	assert_true(failure_pause_failed(&pause, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_pause_grows_up_to_half_a_minute),
		cmocka_unit_test(test_the_server_may_ask_for_more),
		cmocka_unit_test(test_failures_during_a_pause_do_not_count),
		cmocka_unit_test(test_a_success_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
