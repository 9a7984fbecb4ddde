#include "ranking/calibration.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double relevance(double retrieval, double lift, double refusal)
{
	struct relevance_signals signals = {retrieval, lift, refusal};
	double score = relevance_calibrate(&signals);
	assert_true(score >= 0 && score <= 1);
	return score;
}

static void test_all_levels_are_reached_without_feedback(void **state)
{
	(void)state;
	assert_true(relevance(0, 0, 0) < RELEVANCE_LOOSE / 2);
	assert_true(relevance(1, 0, 0) > RELEVANCE_ON_SUBJECT);
	double before = 0;
	for (double retrieval = 0; retrieval <= 1; retrieval += 0.05) {
		double score = relevance(retrieval, 0, 0);
		assert_true(score > before);
		before = score;
	}
}

static void test_preference_moves_the_relevance_both_ways(void **state)
{
	(void)state;
	assert_true(relevance(0.5, 0.2, 0) > relevance(0.5, 0, 0));
	assert_true(relevance(0.5, -0.2, 0) < relevance(0.5, 0, 0));
}

static void test_refused_subject_is_not_even_loosely_related(void **state)
{
	(void)state;
	assert_true(relevance(1, 0, 1) < RELEVANCE_LOOSE);
	assert_true(relevance(1, 0, 0.5) < relevance(1, 0, 0));
}

static void test_numbers_out_of_range_are_clamped(void **state)
{
	(void)state;
	assert_true(relevance(NAN, NAN, NAN) == relevance(0, 0, 0));
	assert_true(relevance(INFINITY, 0, 0) == relevance(1, 0, 0));
	assert_true(relevance(0.5, -INFINITY, 7) == relevance(0.5, -1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_levels_are_reached_without_feedback),
		cmocka_unit_test(test_preference_moves_the_relevance_both_ways),
		cmocka_unit_test(test_refused_subject_is_not_even_loosely_related),
		cmocka_unit_test(test_numbers_out_of_range_are_clamped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
