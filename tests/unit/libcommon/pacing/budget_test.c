#include "pacing/budget.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

static const struct uuid NOBODY, A = {{1}}, B = {{2}};

BUDGET(budget, "test_used_bytes", "Used.", "test_refused_total", "Refused requests.");

static int setup(void **state)
{
	(void)state;
	budget_set_limit(&budget, 64 * MIB);
	return 0;
}

static int teardown_checks_that_nothing_is_used(void **state)
{
	(void)state;
	assert_int_equal(budget_used_bytes(&budget), 0);
	assert_null(budget.owners);
	return 0;
}

static void an_account_has_a_quarter(void **state)
{
	(void)state;
	assert_int_equal(budget_take(&budget, &A, 15 * MIB), ERR_NONE);
	assert_int_equal(budget_take(&budget, &A, 2 * MIB), ERR_RATE_LIMITED);
	assert_int_equal(budget_take(&budget, &A, 1 * MIB), ERR_NONE);
	assert_int_equal(budget_take(&budget, &B, 16 * MIB), ERR_NONE);
	assert_int_equal(budget_take(&budget, &NOBODY, 32 * MIB), ERR_NONE);
	assert_int_equal(budget_take(&budget, &NOBODY, 1), ERR_UNAVAILABLE);
	budget_give(&budget, &A, 16 * MIB);
	assert_int_equal(budget_take(&budget, &A, 16 * MIB), ERR_NONE);
	budget_give(&budget, &A, 16 * MIB);
	budget_give(&budget, &B, 16 * MIB);
	budget_give(&budget, &NOBODY, 32 * MIB);
}

static void one_piece_may_exceed_the_share(void **state)
{
	(void)state;
	assert_int_equal(budget_take(&budget, &A, 40 * MIB), ERR_NONE);
	assert_int_equal(budget_take(&budget, &A, 1), ERR_RATE_LIMITED);
	assert_int_equal(budget_take(&budget, &B, 40 * MIB), ERR_UNAVAILABLE);
	budget_give(&budget, &A, 40 * MIB);
}

static void one_piece_may_grow_beyond_the_share(void **state)
{
	(void)state;
	assert_int_equal(budget_take(&budget, &A, 8 * MIB), ERR_NONE);
	assert_int_equal(budget_take_more(&budget, &A, 8 * MIB, 32 * MIB), ERR_NONE);
	assert_int_equal(budget_take_more(&budget, &A, 39 * MIB, 1), ERR_RATE_LIMITED);
	assert_int_equal(budget_take_more(&budget, &A, 40 * MIB, 25 * MIB), ERR_UNAVAILABLE);
	budget_give(&budget, &A, 40 * MIB);
}

static void what_must_be_taken_counts(void **state)
{
	(void)state;
	budget_take_anyway(&budget, &A, 100 * MIB);
	assert_int_equal(budget_used_bytes(&budget), 100 * MIB);
	assert_int_equal(budget_take(&budget, &A, 1), ERR_RATE_LIMITED);
	assert_int_equal(budget_take(&budget, &B, 1), ERR_UNAVAILABLE);
	budget_give(&budget, &A, 100 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_account_has_a_quarter),
		cmocka_unit_test(one_piece_may_exceed_the_share),
		cmocka_unit_test(one_piece_may_grow_beyond_the_share),
		cmocka_unit_test(what_must_be_taken_counts),
	};
	return cmocka_run_group_tests(tests, setup, teardown_checks_that_nothing_is_used);
}
