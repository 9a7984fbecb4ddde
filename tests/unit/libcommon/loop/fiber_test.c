#include "loop/fiber.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

/* What a test's fiber does and leaves behind. */
struct probe {
	struct fiber *fiber;
	char trace[64];
	enum err_code reason;
	int rounds;
	bool is_done;
};

static void note(struct probe *probe, const char *word)
{
	size_t used = strlen(probe->trace);
	snprintf(probe->trace + used, sizeof(probe->trace) - used, "%s", word);
}

static void probe_done(void *arg)
{
	struct probe *probe = arg;
	note(probe, "D");
	probe->is_done = true;
}

static void returns_at_once(void *arg)
{
	note(arg, "a");
}

static void waits_once(void *arg)
{
	struct probe *probe = arg;
	probe->fiber = fiber_self();
	note(probe, "a");
	probe->reason = fiber_wait();
	note(probe, "b");
}

static void exits_early(void *arg)
{
	note(arg, "a");
	fiber_exit();
}

static void wakes_itself_first(void *arg)
{
	struct probe *probe = arg;
	fiber_wake(fiber_self());
	probe->reason = fiber_wait();
	note(probe, "b");
}

static void waits_uncancelled(void *arg)
{
	struct probe *probe = arg;
	probe->fiber = fiber_self();
	fiber_wait_uncancelled();
	note(probe, "w");
	probe->reason = fiber_wait();
	note(probe, "c");
}

static void test_runs_to_the_end(void **state)
{
	(void)state;
	struct probe probe = {0};
	fiber_start(returns_at_once, &probe, probe_done);
	assert_string_equal(probe.trace, "aD");
	assert_int_equal(fiber_count(), 0);
}

static void test_a_stack_that_cannot_be_mapped_starts_nothing(void **state)
{
	(void)state;
	struct probe probe = {0};
	struct rlimit before, none;
	fiber_thread_free();
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	bool has_started = fiber_start(returns_at_once, &probe, probe_done);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_false(has_started);
	assert_string_equal(probe.trace, "");
	assert_int_equal(fiber_count(), 0);
	assert_int_equal(fiber_stacks(), 0);
	assert_true(fiber_start(returns_at_once, &probe, probe_done));
	assert_string_equal(probe.trace, "aD");
}

static void test_exit_abandons_the_stack(void **state)
{
	(void)state;
	struct probe probe = {0};
	fiber_start(exits_early, &probe, probe_done);
	assert_string_equal(probe.trace, "aD");
}

static void test_wake_makes_ready_and_does_not_run(void **state)
{
	(void)state;
	struct probe probe = {0};
	fiber_start(waits_once, &probe, probe_done);
	fiber_wake(probe.fiber);
	fiber_wake(probe.fiber);
	assert_string_equal(probe.trace, "a");
	fiber_run_ready();
	assert_string_equal(probe.trace, "abD");
	assert_int_equal(probe.reason, ERR_NONE);
}

static void test_wake_before_wait_is_kept(void **state)
{
	(void)state;
	struct probe probe = {.reason = ERR_INTERNAL};
	fiber_start(wakes_itself_first, &probe, probe_done);
	assert_string_equal(probe.trace, "bD");
	assert_int_equal(probe.reason, ERR_NONE);
}

static void test_cancel_gives_the_first_reason(void **state)
{
	(void)state;
	struct probe probe = {0};
	fiber_start(waits_once, &probe, probe_done);
	fiber_cancel(probe.fiber, ERR_TIMEOUT);
	fiber_cancel(probe.fiber, ERR_CLIENT_GONE);
	fiber_run_ready();
	assert_string_equal(probe.trace, "abD");
	assert_int_equal(probe.reason, ERR_TIMEOUT);
}

static void test_an_uncancelled_wait_outlasts_a_cancellation(void **state)
{
	(void)state;
	struct probe probe = {0};
	fiber_start(waits_uncancelled, &probe, probe_done);
	fiber_cancel(probe.fiber, ERR_CLIENT_GONE);
	fiber_run_ready();
	assert_string_equal(probe.trace, "");
	fiber_wake(probe.fiber);
	fiber_run_ready();
	assert_string_equal(probe.trace, "wcD");
	assert_int_equal(probe.reason, ERR_CLIENT_GONE);
}

static void starts_another(void *arg)
{
	struct probe *probe = arg;
	note(probe, "(");
	fiber_start(waits_once, &probe[1], probe_done);
	note(probe, ")");
	fiber_wake(probe[1].fiber);
	probe->fiber = fiber_self();
	probe->reason = fiber_wait();
	note(probe, "!");
}

static void test_fiber_starts_fiber(void **state)
{
	(void)state;
	struct probe probes[2] = {0};
	fiber_start(starts_another, probes, probe_done);
	assert_string_equal(probes[0].trace, "()");
	fiber_run_ready();
	assert_string_equal(probes[1].trace, "abD");
	fiber_wake(probes[0].fiber);
	fiber_run_ready();
	assert_string_equal(probes[0].trace, "()!D");
}

static void uses_stack(void *arg)
{
	struct probe *probe = arg;
	char room[16 * 1024];
	memset(room, 1, sizeof(room));
	probe->fiber = fiber_self();
	for (; probe->rounds > 0; probe->rounds--)
		probe->reason = fiber_wait();
	for (size_t i = 0; i < sizeof(room); i++)
		probe->reason |= room[i] == 1 ? 0 : ERR_INTERNAL;
}

static void test_many_fibers_keep_their_stacks(void **state)
{
	(void)state;
	static struct probe probes[300];
	for (int i = 0; i < 300; i++) {
		probes[i] = (struct probe){.rounds = i % 7 + 1};
		fiber_start(uses_stack, &probes[i], probe_done);
	}
	assert_int_equal(fiber_count(), 300);
	for (int round = 0; round < 7; round++) {
		for (int i = 0; i < 300; i++)
			if (!probes[i].is_done)
				fiber_wake(probes[i].fiber);
		fiber_run_ready();
	}
	assert_int_equal(fiber_count(), 0);
	for (int i = 0; i < 300; i++)
		assert_int_equal(probes[i].reason, ERR_NONE);
	assert_true(fiber_stacks() <= 64);
}

static void wake_by_timer(uv_timer_t *timer)
{
	fiber_wake(((struct probe *)timer->data)->fiber);
}

static void test_loop_runs_ready_fibers(void **state)
{
	(void)state;
	uv_loop_t loop;
	uv_timer_t timer;
	struct probe probe = {0};
	uv_loop_init(&loop);
	fiber_loop_attach(&loop);
	uv_timer_init(&loop, &timer);
	timer.data = &probe;
	fiber_start(waits_once, &probe, probe_done);
	uv_timer_start(&timer, wake_by_timer, 0, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_string_equal(probe.trace, "abD");
	uv_close((uv_handle_t *)&timer, NULL);
	fiber_loop_detach(&loop);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static int free_stacks(void **state)
{
	(void)state;
	fiber_thread_free();
	return fiber_stacks() == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_to_the_end),
		cmocka_unit_test(test_a_stack_that_cannot_be_mapped_starts_nothing),
		cmocka_unit_test(test_exit_abandons_the_stack),
		cmocka_unit_test(test_wake_makes_ready_and_does_not_run),
		cmocka_unit_test(test_wake_before_wait_is_kept),
		cmocka_unit_test(test_cancel_gives_the_first_reason),
		cmocka_unit_test(test_an_uncancelled_wait_outlasts_a_cancellation),
		cmocka_unit_test(test_fiber_starts_fiber),
		cmocka_unit_test(test_many_fibers_keep_their_stacks),
		cmocka_unit_test(test_loop_runs_ready_fibers),
	};
	return cmocka_run_group_tests(tests, NULL, free_stacks);
}
