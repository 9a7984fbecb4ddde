#include "loop/request.h"

#include "worker_suite.h"

#include <sys/resource.h>

/* --- Pages ------------------------------------------------------------------------------------ */

/* What a request saw of its pages. */
struct pages {
	struct arena *own, *seen_by_done;
	size_t freed, freed_when_done;
};

static void count_freed(void *freed)
{
	++*(size_t *)freed;
}

static void work_in_pages(struct request *rq)
{
	struct pages *pages = rq->user;
	pages->own = rq->arena;
	for (size_t i = 0; i < 3; i++) {
		assert_ptr_equal(request_page_begin(rq), pages->own);
		struct arena *page = rq->arena;
		assert_ptr_not_equal(page, pages->own);
		arena_on_free(page, count_freed, &pages->freed);
		assert_ptr_equal(request_page_begin(rq), page);
		arena_on_free(rq->arena, count_freed, &pages->freed);
		request_page_end(rq);
		assert_ptr_equal(rq->arena, page);
		assert_int_equal(pages->freed, 2 * i + 1);
		request_page_end(rq);
		assert_ptr_equal(rq->arena, pages->own);
		assert_int_equal(pages->freed, 2 * i + 2);
	}
}

static void raise_in_pages(struct request *rq)
{
	struct pages *pages = rq->user;
	pages->own = rq->arena;
	for (int i = 0; i < 2; i++) {
		request_page_begin(rq);
		arena_on_free(rq->arena, count_freed, &pages->freed);
	}
	raise_error(rq, ERR_CONFLICT, "%s of a page", "in the middle");
}

static void look_at_pages(struct request *rq)
{
	struct pages *pages = rq->user;
	pages->seen_by_done = rq->arena;
	pages->freed_when_done = pages->freed;
	if (rq->problem.code)
		assert_string_equal(rq->problem.detail, "in the middle of a page");
}

static void pages_are_freed_one_by_one(void **state)
{
	(void)state;
	struct pages pages = {0};
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, work_in_pages, look_at_pages,
	              &pages);
	fixture_idle(&fixture);
	assert_ptr_equal(pages.seen_by_done, pages.own);
	assert_int_equal(pages.freed, 6);
}

static void a_raise_leaves_every_page(void **state)
{
	(void)state;
	struct pages pages = {0};
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, raise_in_pages, look_at_pages,
	              &pages);
	fixture_idle(&fixture);
	assert_ptr_equal(pages.seen_by_done, pages.own);
	assert_int_equal(pages.freed_when_done, 0);
	assert_int_equal(pages.freed, 2);
}

/* --- Memory ----------------------------------------------------------------------------------- */

static void run_for_nothing(struct request *rq)
{
	*(size_t *)rq->user += 100;
}

static void expect_no_memory(struct request *rq)
{
	assert_int_equal(rq->problem.code, ERR_UNAVAILABLE);
	assert_null(rq->fiber);
	++*(size_t *)rq->user;
}

static void a_request_without_a_stack_is_unavailable(void **state)
{
	(void)state;
	size_t calls = 0;
	struct rlimit before, none;
	fiber_thread_free();
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, run_for_nothing,
	              expect_no_memory, &calls);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(calls, 1);
	assert_int_equal(request_list_count(fixture.worker.requests), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORKER_TEST(pages_are_freed_one_by_one),
		WORKER_TEST(a_raise_leaves_every_page),
		WORKER_TEST(a_request_without_a_stack_is_unavailable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
