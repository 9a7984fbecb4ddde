#include "loop/wait.h"

#include "worker_fixture.h"

#include <uv.h>

static struct worker_fixture fixture;

static int setup(void **state)
{
	(void)state;
	fixture_start(&fixture);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_stop(&fixture);
	return 0;
}

struct sum {
	uv_sem_t may_start;
	uv_thread_t thread;
	int number, result;
	bool is_back, is_over;
	enum err_code code;
};

static void square(void *arg)
{
	struct sum *sum = arg;
	uv_sem_wait(&sum->may_start);
	sum->thread = uv_thread_self();
	sum->result = sum->number * sum->number;
}

static void compute(struct request *rq)
{
	struct sum *sum = rq->user;
	fiber_offload(rq, square, sum);
	sum->is_back = true;
}

static void note_over(struct request *rq)
{
	struct sum *sum = rq->user;
	sum->is_over = true;
	sum->code = rq->problem.code;
}

static struct request *start(struct sum *sum)
{
	assert_int_equal(uv_sem_init(&sum->may_start, 0), 0);
	return fixture_spawn(&fixture, compute, note_over, sum);
}

static void test_runs_on_another_thread(void **state)
{
	(void)state;
	uv_thread_t self = uv_thread_self();
	struct sum sum = {.number = 12};
	start(&sum);
	uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	assert_false(sum.is_over);
	uv_sem_post(&sum.may_start);
	fixture_idle(&fixture);
	assert_true(sum.is_back);
	assert_int_equal(sum.result, 144);
	assert_false(uv_thread_equal(&sum.thread, &self));
	uv_sem_destroy(&sum.may_start);
}

/* The arena, and what the work reads there, outlives the work. */
static void test_a_cancelled_request_waits_for_its_work(void **state)
{
	(void)state;
	struct sum sum = {.number = 3};
	struct request *rq = start(&sum);
	fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
	for (int i = 0; i < 5; i++)
		uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	assert_false(sum.is_over);
	uv_sem_post(&sum.may_start);
	fixture_idle(&fixture);
	assert_false(sum.is_back);
	assert_int_equal(sum.result, 9);
	assert_int_equal(sum.code, ERR_CLIENT_GONE);
	uv_sem_destroy(&sum.may_start);
}

static void nap(struct request *rq)
{
	fiber_sleep(rq, *(uint64_t *)rq->user);
}

static enum err_code nap_code;

static void note_nap(struct request *rq)
{
	nap_code = rq->problem.code;
}

static void test_sleep_ends_by_itself_or_when_cancelled(void **state)
{
	(void)state;
	uint64_t short_ms = 1, long_ms = 3600000;
	nap_code = ERR_INTERNAL;
	request_spawn(&fixture.worker, "test", FIXTURE_PATIENCE_MS, nap, note_nap, &short_ms);
	fixture_idle(&fixture);
	assert_int_equal(nap_code, ERR_NONE);
	struct request *rq = fixture_spawn(&fixture, nap, note_nap, &long_ms);
	fiber_cancel(rq->fiber, ERR_TIMEOUT);
	fixture_idle(&fixture);
	assert_int_equal(nap_code, ERR_TIMEOUT);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_runs_on_another_thread),
		CASE(test_a_cancelled_request_waits_for_its_work),
		CASE(test_sleep_ends_by_itself_or_when_cancelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
