#include "refresh/daily_turn.h"

#include "base/base.h"
#include "worker_suite.h"

#define TURNS_MAX 1024

/* An interest that is refreshed until the test ends it. */
struct refresh {
	struct request *rq;
	bool has_turn, may_end, is_over;
	enum err_code code;
};

static void take(struct request *rq)
{
	struct refresh *refresh = rq->user;
	daily_turn_take(rq);
	refresh->has_turn = true;
	while (!refresh->may_end && fiber_wait() == ERR_NONE)
		;
}

static void note_over(struct request *rq)
{
	struct refresh *refresh = rq->user;
	refresh->is_over = true;
	refresh->code = rq->problem.code;
}

static void start(struct refresh *refresh)
{
	*refresh = (struct refresh){0};
	refresh->rq = fixture_spawn(&fixture, take, note_over, refresh);
}

static void finish(struct refresh *refresh)
{
	refresh->may_end = true;
	fiber_wake(refresh->rq->fiber);
	fixture_until(&fixture, &refresh->is_over);
}

/* As many as have a turn. */
static void fill(struct refresh *refreshes)
{
	assert_in_range(daily_turns(), 1, TURNS_MAX);
	for (int i = 0; i < daily_turns(); i++) {
		start(&refreshes[i]);
		assert_true(refreshes[i].has_turn);
	}
}

static void test_turns_are_passed_on_in_their_order(void **state)
{
	(void)state;
	static struct refresh running[TURNS_MAX];
	struct refresh next, last;
	fill(running);
	start(&next);
	start(&last);
	assert_false(next.has_turn);
	finish(&running[0]);
	fixture_until(&fixture, &next.has_turn);
	assert_false(last.has_turn);
	finish(&next);
	fixture_until(&fixture, &last.has_turn);
	for (int i = 1; i < daily_turns(); i++)
		finish(&running[i]);
	finish(&last);
}

static void test_one_that_is_cancelled_leaves_its_place(void **state)
{
	(void)state;
	static struct refresh running[TURNS_MAX];
	struct refresh gone, next;
	fill(running);
	start(&gone);
	start(&next);
	fiber_cancel(gone.rq->fiber, ERR_TIMEOUT);
	fixture_until(&fixture, &gone.is_over);
	assert_false(gone.has_turn);
	assert_int_equal(gone.code, ERR_TIMEOUT);
	finish(&running[0]);
	fixture_until(&fixture, &next.has_turn);
	for (int i = 1; i < daily_turns(); i++)
		finish(&running[i]);
	finish(&next);
}

/* Its turn came, and then it was cancelled, before it ran: the turn is not lost. */
static void test_the_turn_of_one_that_is_cancelled_is_passed_on(void **state)
{
	(void)state;
	static struct refresh running[TURNS_MAX];
	struct refresh gone, next;
	fill(running);
	start(&gone);
	start(&next);
	fiber_cancel(running[0].rq->fiber, ERR_TIMEOUT);
	fixture_until(&fixture, &running[0].is_over);
	fiber_cancel(gone.rq->fiber, ERR_TIMEOUT);
	fixture_until(&fixture, &gone.is_over);
	fixture_until(&fixture, &next.has_turn);
	for (int i = 1; i < daily_turns(); i++)
		finish(&running[i]);
	finish(&next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORKER_TEST(test_turns_are_passed_on_in_their_order),
		WORKER_TEST(test_one_that_is_cancelled_leaves_its_place),
		WORKER_TEST(test_the_turn_of_one_that_is_cancelled_is_passed_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
