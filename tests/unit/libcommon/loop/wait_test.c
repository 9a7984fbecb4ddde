#include "loop/wait.h"

#include "base/base.h"
#include "worker_suite.h"

#include <uv.h>

struct sum {
	uv_sem_t has_begun, may_start;
	uv_thread_t thread;
	int number, result;
	bool is_back, is_over;
	enum err_code code;
};

static void square(void *arg)
{
	struct sum *sum = arg;
	uv_sem_post(&sum->has_begun);
	uv_sem_wait(&sum->may_start);
	sum->thread = uv_thread_self();
	sum->result = sum->number * sum->number;
}

static void compute(struct request *rq)
{
	struct sum *sum = rq->user;
	fiber_offload(rq, LANE_SHORT, square, sum);
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
	assert_int_equal(uv_sem_init(&sum->has_begun, 0), 0);
	assert_int_equal(uv_sem_init(&sum->may_start, 0), 0);
	return fixture_spawn(&fixture, compute, note_over, sum);
}

static void sum_destroy(struct sum *sum)
{
	uv_sem_destroy(&sum->has_begun);
	uv_sem_destroy(&sum->may_start);
}

static void finish(struct sum *sum)
{
	uv_sem_post(&sum->may_start);
	fixture_idle(&fixture);
	sum_destroy(sum);
}

static void test_runs_on_another_thread(void **state)
{
	(void)state;
	uv_thread_t self = uv_thread_self();
	struct sum sum = {.number = 12};
	start(&sum);
	uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	assert_false(sum.is_over);
	finish(&sum);
	assert_true(sum.is_back);
	assert_int_equal(sum.result, 144);
	assert_false(uv_thread_equal(&sum.thread, &self));
}

/* The arena, and what the work reads there, outlives the work. */
static void test_a_cancelled_request_waits_for_its_work(void **state)
{
	(void)state;
	struct sum sum = {.number = 3};
	struct request *rq = start(&sum);
	uv_sem_wait(&sum.has_begun);
	fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
	for (int i = 0; i < 5; i++)
		uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	assert_false(sum.is_over);
	finish(&sum);
	assert_false(sum.is_back);
	assert_int_equal(sum.result, 9);
	assert_int_equal(sum.code, ERR_CLIENT_GONE);
}

/* Work that waits for a thread, behind that of other requests, need not be waited for. */
static void test_a_cancelled_request_gives_up_its_place(void **state)
{
	(void)state;
	static struct sum running[1024];
	struct sum last = {.number = 5};
	int threads = thread_pool_threads_max(LANE_SHORT);
	assert_true(threads < (int)ARRAY_LEN(running));
	for (int i = 0; i < threads; i++)
		start(&running[i]);
	for (int i = 0; i < threads; i++)
		uv_sem_wait(&running[i].has_begun);
	struct request *rq = start(&last);
	fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
	fixture_until(&fixture, &last.is_over);
	assert_int_equal(last.code, ERR_CLIENT_GONE);
	assert_false(running[0].is_over);
	for (int i = 0; i < threads; i++)
		uv_sem_post(&running[i].may_start);
	fixture_idle(&fixture);
	for (int i = 0; i < threads; i++)
		sum_destroy(&running[i]);
	assert_int_equal(last.result, 0);
	sum_destroy(&last);
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
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, nap, note_nap, &short_ms);
	fixture_idle(&fixture);
	assert_int_equal(nap_code, ERR_NONE);
	struct request *rq = fixture_spawn(&fixture, nap, note_nap, &long_ms);
	fiber_cancel(rq->fiber, ERR_TIMEOUT);
	fixture_idle(&fixture);
	assert_int_equal(nap_code, ERR_TIMEOUT);
}

/* What a member of a group does; its request's user. */
struct member_plan {
	uint64_t sleep_ms;   /* 0: does not wait */
	enum err_code fails; /* ERR_NONE: it does not */
	bool has_ended;
};

static void member_run(struct request *rq)
{
	struct member_plan *plan = rq->user;
	arena_alloc(rq->arena, 100);
	assert_string_equal(rq->id, "test");
	if (plan->sleep_ms)
		fiber_sleep(rq, plan->sleep_ms);
	if (plan->fails)
		raise_error(rq, plan->fails, "failed as planned");
	plan->has_ended = true;
}

struct group_plan {
	struct member_plan members[3];
	bool raises_before_join;
	bool is_joined;
	enum err_code code; /* of the parent, once it is over */
	const char *detail;
	size_t left; /* requests under way then */
};

static void parent_run(struct request *rq)
{
	struct group_plan *plan = rq->user;
	for (size_t i = 0; i < ARRAY_LEN(plan->members); i++)
		fiber_spawn(rq, member_run, &plan->members[i]);
	if (plan->raises_before_join)
		raise_error(rq, ERR_CONFLICT, "before the join");
	fiber_join(rq);
	plan->is_joined = true;
}

static void parent_over(struct request *rq)
{
	struct group_plan *plan = rq->user;
	plan->code = rq->problem.code;
	plan->left = request_list_count(fixture.worker.requests);
	if (rq->problem.detail)
		plan->detail = strstr(rq->problem.detail, "planned") ? "planned" : "other";
}

static void run_group(struct group_plan *plan)
{
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, parent_run, parent_over, plan);
	fixture_idle(&fixture);
	assert_int_equal(plan->left, 0); /* the parent is the last to end */
}

#define FOREVER_MS 3600000

static void test_a_join_waits_for_all_members(void **state)
{
	(void)state;
	struct group_plan plan = {.members = {{.sleep_ms = 20}, {0}, {.sleep_ms = 1}}};
	run_group(&plan);
	assert_int_equal(plan.code, ERR_NONE);
	assert_true(plan.is_joined);
	for (size_t i = 0; i < ARRAY_LEN(plan.members); i++)
		assert_true(plan.members[i].has_ended);
}

static void test_a_failure_cancels_the_other_members(void **state)
{
	(void)state;
	struct group_plan plan = {.members = {{.sleep_ms = FOREVER_MS},
	                                      {.sleep_ms = 5, .fails = ERR_UPSTREAM},
	                                      {.sleep_ms = FOREVER_MS}}};
	run_group(&plan);
	assert_int_equal(plan.code, ERR_UPSTREAM);
	assert_string_equal(plan.detail, "planned");
	assert_false(plan.is_joined);
	assert_false(plan.members[0].has_ended || plan.members[2].has_ended);
}

static void test_members_are_not_started_after_a_failure(void **state)
{
	(void)state;
	struct group_plan plan = {
		.members = {{.fails = ERR_NOT_FOUND}, {0}, {.sleep_ms = FOREVER_MS}}};
	run_group(&plan);
	assert_int_equal(plan.code, ERR_NOT_FOUND);
	assert_false(plan.members[1].has_ended);
}

static void test_cancelling_the_parent_reaches_every_member(void **state)
{
	(void)state;
	struct group_plan plan = {.members = {{.sleep_ms = FOREVER_MS},
	                                      {.sleep_ms = FOREVER_MS},
	                                      {.sleep_ms = FOREVER_MS}}};
	struct request *rq = fixture_spawn(&fixture, parent_run, parent_over, &plan);
	assert_int_equal(request_list_count(fixture.worker.requests), 4);
	request_cancel(rq, ERR_CLIENT_GONE);
	fixture_idle(&fixture);
	assert_int_equal(plan.code, ERR_CLIENT_GONE);
	assert_int_equal(plan.left, 0);
}

static void test_a_group_ends_with_its_parent(void **state)
{
	(void)state;
	struct group_plan plan = {.members = {{.sleep_ms = FOREVER_MS},
	                                      {0},
	                                      {.sleep_ms = FOREVER_MS}},
	                          .raises_before_join = true};
	run_group(&plan);
	assert_int_equal(plan.code, ERR_CONFLICT);
	assert_false(plan.members[0].has_ended || plan.members[2].has_ended);
}

static void two_groups(struct request *rq)
{
	struct group_plan *plan = rq->user;
	struct problem problem;
	fiber_spawn_within(rq, 5, member_run, &plan->members[0]);
	assert_int_equal(fiber_join_try(rq, &problem), ERR_TIMEOUT);
	assert_int_equal(problem.code, ERR_TIMEOUT);
	fiber_spawn(rq, member_run, &plan->members[1]);
	assert_int_equal(fiber_join_try(rq, NULL), ERR_NONE);
	plan->is_joined = true;
}

/* A member may have less time than its parent; another group follows a failed one. */
static void test_a_group_after_a_failed_one(void **state)
{
	(void)state;
	struct group_plan plan = {.members = {{.sleep_ms = FOREVER_MS}, {.sleep_ms = 1}}};
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, two_groups, parent_over, &plan);
	fixture_idle(&fixture);
	assert_int_equal(plan.code, ERR_NONE);
	assert_true(plan.is_joined);
	assert_true(plan.members[1].has_ended);
}

static void group_in_a_page(struct request *rq)
{
	struct group_plan *plan = rq->user;
	request_page_begin(rq);
	fiber_spawn(rq, member_run, &plan->members[0]);
	fiber_join(rq);
	request_page_end(rq);
	plan->is_joined = true;
	request_page_begin(rq);
	fiber_spawn(rq, member_run, &plan->members[1]);
	raise_error(rq, ERR_CONFLICT, "raised in the page");
}

static void test_a_page_has_groups_of_its_own(void **state)
{
	(void)state;
	struct group_plan plan = {.members = {{.sleep_ms = 1}, {.sleep_ms = FOREVER_MS}}};
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, group_in_a_page, parent_over,
	              &plan);
	fixture_idle(&fixture);
	assert_true(plan.is_joined);
	assert_true(plan.members[0].has_ended);
	assert_false(plan.members[1].has_ended);
	assert_int_equal(plan.code, ERR_CONFLICT);
	assert_int_equal(plan.left, 0);
}

static void fail_soon(struct request *rq)
{
	fiber_sleep(rq, 1);
	raise_error(rq, ERR_CONFLICT, "raised during a page of the parent");
}

static void pages_beside_a_group(struct request *rq)
{
	struct problem problem;
	fiber_spawn(rq, fail_soon, NULL);
	request_page_begin(rq);
	while (request_list_count(rq->worker->requests) > 1)
		fiber_sleep(rq, 1);
	request_page_end(rq);
	assert_int_equal(fiber_join_try(rq, &problem), ERR_CONFLICT);
	assert_string_equal(problem.detail, "raised during a page of the parent");
}

static void test_a_failure_outlives_the_page_in_which_it_came(void **state)
{
	(void)state;
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, pages_beside_a_group, NULL,
	              NULL);
	fixture_idle(&fixture);
}

static void lack_a_scope(struct request *rq)
{
	rq->problem.scope = "fleet:write";
	raise_retry_later(rq, ERR_SCOPE, 600, "lacks %s", rq->problem.scope);
}

static void raise_again(struct request *rq)
{
	struct problem problem;
	fiber_spawn(rq, lack_a_scope, NULL);
	assert_int_equal(fiber_join_try(rq, &problem), ERR_SCOPE);
	raise_problem(rq, &problem);
}

static void note_problem(struct request *rq)
{
	struct group_plan *plan = rq->user;
	plan->code = rq->problem.code;
	assert_int_equal(rq->problem.retry_after_s, 600);
	assert_string_equal(rq->problem.scope, "fleet:write");
	assert_string_equal(rq->problem.detail, "lacks fleet:write");
}

static void test_a_failure_that_is_raised_again_keeps_what_it_says(void **state)
{
	(void)state;
	struct group_plan plan = {.code = ERR_NONE};
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, raise_again, note_problem,
	              &plan);
	fixture_idle(&fixture);
	assert_int_equal(plan.code, ERR_SCOPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORKER_TEST(test_runs_on_another_thread),
		WORKER_TEST(test_a_cancelled_request_waits_for_its_work),
		WORKER_TEST(test_a_cancelled_request_gives_up_its_place),
		WORKER_TEST(test_sleep_ends_by_itself_or_when_cancelled),
		WORKER_TEST(test_a_join_waits_for_all_members),
		WORKER_TEST(test_a_failure_cancels_the_other_members),
		WORKER_TEST(test_members_are_not_started_after_a_failure),
		WORKER_TEST(test_cancelling_the_parent_reaches_every_member),
		WORKER_TEST(test_a_group_ends_with_its_parent),
		WORKER_TEST(test_a_group_after_a_failed_one),
		WORKER_TEST(test_a_page_has_groups_of_its_own),
		WORKER_TEST(test_a_failure_outlives_the_page_in_which_it_came),
		WORKER_TEST(test_a_failure_that_is_raised_again_keeps_what_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
