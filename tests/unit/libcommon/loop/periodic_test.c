#include "loop/periodic.h"

#include "loop/wait.h"
#include "observe/log.h"
#include "pacing/backoff.h"
#include "worker_fixture.h"

static struct worker_fixture fixture;

static struct {
	int passes, failures_left, overlapping;
	bool has_run, is_running, is_slow;
	struct periodic *periodic;
} work;

static void pass(struct request *rq)
{
	assert_ptr_equal(periodic_user(rq), &work);
	work.overlapping += work.is_running;
	work.is_running = true;
	work.passes++;
	if (work.is_slow)
		fiber_sleep(rq, 5);
	work.is_running = false;
	work.has_run = true;
	if (work.failures_left > 0) {
		work.failures_left--;
		raise_error(rq, ERR_UNAVAILABLE, "unavailable");
	}
}

static void start(uint64_t every_ms)
{
	memset(&work, 0, sizeof(work));
	work.periodic = periodic_new(&fixture.worker, "work", pass, &work, every_ms, 10000);
}

static int setup(void **state)
{
	(void)state;
	log_init("test", "error");
	fixture_start(&fixture);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	periodic_stop(work.periodic);
	fixture_idle(&fixture);
	periodic_free(work.periodic);
	fixture_stop(&fixture);
	return 0;
}

static void until_passes(int count)
{
	fixture_wait_start(&fixture);
	while (work.passes < count)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

static void turns(int count)
{
	for (int i = 0; i < count; i++)
		uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
}

static void test_no_pass_runs_before_a_wake(void **state)
{
	(void)state;
	start(0);
	turns(10);
	assert_int_equal(work.passes, 0);
	periodic_wake(work.periodic);
	until_passes(10);
}

static void test_when_woken_runs_only_after_a_wake(void **state)
{
	(void)state;
	start(PERIODIC_WHEN_WOKEN);
	for (int i = 0; i < 5; i++)
		periodic_wake(work.periodic);
	until_passes(1);
	turns(20);
	assert_int_equal(work.passes, 1);
	periodic_wake_in(work.periodic, 1);
	until_passes(2);
}

static void test_a_wake_during_a_pass_is_not_lost(void **state)
{
	(void)state;
	start(PERIODIC_WHEN_WOKEN);
	work.is_slow = true;
	periodic_wake(work.periodic);
	until_passes(1);
	assert_true(work.is_running);
	periodic_wake(work.periodic);
	periodic_wake_in(work.periodic, 100000);
	until_passes(2);
	fixture_idle(&fixture);
	assert_int_equal(work.overlapping, 0);
	turns(20);
	assert_int_equal(work.passes, 2);
}

/* An earlier wake replaces a later one; a later one changes nothing. */
static void test_the_earliest_wake_is_kept(void **state)
{
	(void)state;
	start(PERIODIC_WHEN_WOKEN);
	periodic_wake_in(work.periodic, 1000000);
	periodic_wake_in(work.periodic, 1);
	periodic_wake_in(work.periodic, 1000000);
	until_passes(1);
}

static void test_a_failed_pass_is_tried_again(void **state)
{
	(void)state;
	start(PERIODIC_WHEN_WOKEN);
	work.failures_left = 2;
	periodic_wake(work.periodic);
	until_passes(3);
	fixture_idle(&fixture);
	assert_int_equal(work.failures_left, 0);
	turns(20);
	assert_int_equal(work.passes, 3);
}

static void test_stop_cancels_the_pass(void **state)
{
	(void)state;
	start(0);
	work.is_slow = true;
	periodic_wake(work.periodic);
	until_passes(1);
	assert_false(periodic_is_idle(work.periodic));
	periodic_stop(work.periodic);
	fixture_idle(&fixture);
	assert_true(periodic_is_idle(work.periodic));
	periodic_wake(work.periodic);
	turns(10);
	assert_int_equal(work.passes, 1);
}

static void test_backoff_bounds(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_in_range(backoff_ms(1, 100, 5000), 50, 100);
		assert_in_range(backoff_ms(3, 100, 5000), 200, 400);
		assert_in_range(backoff_ms(100, 100, 5000), 2500, 5000);
		assert_in_range(jitter_ms(1000), 800, 1200);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_no_pass_runs_before_a_wake),
		CASE(test_when_woken_runs_only_after_a_wake),
		CASE(test_a_wake_during_a_pass_is_not_lost),
		CASE(test_the_earliest_wake_is_kept),
		CASE(test_a_failed_pass_is_tried_again),
		CASE(test_stop_cancels_the_pass),
		cmocka_unit_test(test_backoff_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
