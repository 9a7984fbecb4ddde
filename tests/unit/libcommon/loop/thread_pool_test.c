#include "loop/thread_pool.h"

#include "base/base.h"

#include <uv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>

#define STEPS_MAX 1024

/* A computation that waits until the test lets it end. */
struct step {
	struct computation computation;
	int priority; /* of its thread */
	uv_sem_t may_end, has_ended;
	int place; /* in the order in which those of its lane began, from 1; 0: it has not begun */
};

static _Atomic int begun[LANE_COUNT];

static void step_run(struct computation *computation)
{
	struct step *step = CONTAINER_OF(computation, struct step, computation);
	step->place = ++begun[computation->lane];
	step->priority = getpriority(PRIO_PROCESS, 0);
	uv_sem_wait(&step->may_end);
}

static void step_done(struct computation *computation)
{
	struct step *step = CONTAINER_OF(computation, struct step, computation);
	uv_sem_post(&step->has_ended);
}

static void step_add_of(struct step *step, enum lane lane, uint8_t account)
{
	*step = (struct step){.computation = {.run = step_run, .done = step_done}};
	assert_int_equal(uv_sem_init(&step->may_end, 0), 0);
	assert_int_equal(uv_sem_init(&step->has_ended, 0), 0);
	assert_true(thread_pool_add(lane, &step->computation, &(struct uuid){{account}}));
}

static void step_add(struct step *step, enum lane lane)
{
	step_add_of(step, lane, 0);
}

static void step_destroy(struct step *step)
{
	uv_sem_destroy(&step->may_end);
	uv_sem_destroy(&step->has_ended);
}

static void step_finish(struct step *step)
{
	uv_sem_post(&step->may_end);
	uv_sem_wait(&step->has_ended);
	step_destroy(step);
}

static int setup(void **state)
{
	(void)state;
	for (enum lane lane = 0; lane < LANE_COUNT; lane++)
		begun[lane] = 0;
	return 0;
}

/* Add more computations than the lane has threads, and return how many. */
static int fill(struct step *steps, enum lane lane)
{
	int count = 2 * thread_pool_threads_max(lane) + 1;
	assert_true(count <= STEPS_MAX);
	for (int i = 0; i < count; i++)
		step_add(&steps[i], lane);
	return count;
}

static void test_each_lane_goes_on_while_the_other_is_full(void **state)
{
	(void)state;
	static struct step steps[STEPS_MAX];
	for (enum lane full = 0; full < LANE_COUNT; full++) {
		enum lane other = full == LANE_LONG ? LANE_SHORT : LANE_LONG;
		int count = fill(steps, full);
		struct step one;
		step_add(&one, other);
		step_finish(&one);
		for (int i = 0; i < count; i++)
			step_finish(&steps[i]);
	}
}

static void test_a_lane_has_no_more_threads_than_it_may(void **state)
{
	(void)state;
	static struct step steps[STEPS_MAX];
	int count = fill(steps, LANE_LONG), threads_max = thread_pool_threads_max(LANE_LONG);
	assert_int_equal(thread_pool_threads(LANE_LONG), threads_max);
	for (int i = 0; i < count; i++) {
		assert_true(begun[LANE_LONG] <= threads_max + i);
		step_finish(&steps[i]);
	}
	assert_int_equal(begun[LANE_LONG], count);
}

/* Wait until each thread of the lane has a computation. */
static void wait_until_full(enum lane lane)
{
	while (begun[lane] < thread_pool_threads_max(lane))
		uv_sleep(1);
}

static void test_computations_of_a_lane_begin_in_their_order(void **state)
{
	(void)state;
	static struct step steps[STEPS_MAX];
	int count = fill(steps, LANE_SHORT), others = thread_pool_threads_max(LANE_SHORT) - 1;
	wait_until_full(LANE_SHORT);           /* those of the first threads count in any order */
	for (int i = others; i < count; i++) { /* one thread takes them, the others are kept busy */
		uv_sem_post(&steps[i].may_end);
		uv_sem_wait(&steps[i].has_ended);
		assert_true(i == others || steps[i].place == i + 1);
		step_destroy(&steps[i]);
	}
	for (int i = 0; i < others; i++)
		step_finish(&steps[i]);
}

/* What has no account is an account, too. */
static void test_accounts_take_turns(void **state)
{
	(void)state;
	static struct step busy[STEPS_MAX], many[STEPS_MAX], others[3];
	int threads = thread_pool_threads_max(LANE_SHORT), count = 10;
	for (int i = 0; i < threads; i++)
		step_add_of(&busy[i], LANE_SHORT, 1);
	wait_until_full(LANE_SHORT);
	for (int i = 0; i < count; i++)
		step_add_of(&many[i], LANE_SHORT, 1);
	step_add_of(&others[0], LANE_SHORT, 2);
	step_add_of(&others[1], LANE_SHORT, 0);
	step_add_of(&others[2], LANE_SHORT, 0);
	assert_true(thread_pool_withdraw(&others[1].computation));
	for (int i = 0; i < count; i++)
		uv_sem_post(&many[i].may_end);
	uv_sem_post(&others[0].may_end);
	uv_sem_post(&others[2].may_end);
	step_finish(&busy[0]); /* its thread takes all that wait, the others are kept busy */
	for (int i = 0; i < count; i++) {
		uv_sem_wait(&many[i].has_ended);
		assert_int_equal(many[i].place, threads + 1 + i + (i > 0 ? 2 : 0));
		step_destroy(&many[i]);
	}
	assert_int_equal(others[0].place, threads + 2);
	assert_int_equal(others[2].place, threads + 3);
	for (int i = 0; i < 3; i += 2)
		uv_sem_wait(&others[i].has_ended);
	for (int i = 0; i < 3; i++)
		step_destroy(&others[i]);
	for (int i = 1; i < threads; i++)
		step_finish(&busy[i]);
}

static void test_a_computation_that_has_not_begun_is_withdrawn(void **state)
{
	(void)state;
	static struct step steps[STEPS_MAX];
	int count = fill(steps, LANE_LONG);
	struct step *last = &steps[count - 1];
	assert_true(thread_pool_withdraw(&last->computation));
	assert_false(thread_pool_withdraw(&last->computation));
	for (int i = 0; i < count - 1; i++)
		step_finish(&steps[i]);
	assert_int_equal(last->place, 0);
	step_destroy(last);
	step_add(last, LANE_LONG);
	uv_sem_post(&last->may_end);
	uv_sem_wait(&last->has_ended);
	assert_false(thread_pool_withdraw(&last->computation));
	step_destroy(last);
}

static void test_threads_end_when_there_is_nothing_to_do(void **state)
{
	(void)state;
	struct step step;
	thread_pool_idle_ms = 1;
	for (int i = 0; i < 3; i++) {
		for (enum lane lane = 0; lane < LANE_COUNT; lane++) {
			step_add(&step, lane);
			assert_true(thread_pool_threads(lane) > 0);
			step_finish(&step);
		}
		while (thread_pool_threads(LANE_SHORT) > 0)
			uv_sleep(1);
	}
	thread_pool_idle_ms = 10000;
}

static void test_long_computations_leave_a_processor(void **state)
{
	(void)state;
	assert_true(thread_pool_threads_max(LANE_SHORT) >= 2);
	assert_true(thread_pool_threads_max(LANE_LONG) >= 1);
	assert_true(thread_pool_threads_max(LANE_LONG) < thread_pool_threads_max(LANE_SHORT));
}

static void test_long_computations_leave_time_to_others(void **state)
{
	(void)state;
	struct step steps[LANE_COUNT];
	for (enum lane lane = 0; lane < LANE_COUNT; lane++)
		step_add(&steps[lane], lane);
	for (enum lane lane = 0; lane < LANE_COUNT; lane++)
		step_finish(&steps[lane]);
	assert_int_equal(steps[LANE_SHORT].priority, getpriority(PRIO_PROCESS, 0));
	assert_true(steps[LANE_LONG].priority > steps[LANE_SHORT].priority);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		CASE(test_threads_end_when_there_is_nothing_to_do),
		CASE(test_each_lane_goes_on_while_the_other_is_full),
		CASE(test_a_lane_has_no_more_threads_than_it_may),
		CASE(test_computations_of_a_lane_begin_in_their_order),
		CASE(test_accounts_take_turns),
		CASE(test_a_computation_that_has_not_begun_is_withdrawn),
		CASE(test_long_computations_leave_a_processor),
		CASE(test_long_computations_leave_time_to_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
