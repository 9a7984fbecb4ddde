#include "statistics/suite.h"

#include "base/base.h"
#include "near.h"

static double scores[64], replicates[SUITE_REPLICATES_MAX];

static void the_middle_half_is_averaged(void **state)
{
	(void)state;
	assert_true(interquartile_mean((double[]){100, 2, 3, -50}, 4) == 2.5);
	assert_true(interquartile_mean((double[]){3, 1, 2}, 3) == 2);
	assert_true(interquartile_mean((double[]){7}, 1) == 7);
	assert_true(interquartile_mean((double[]){9, 1, 2, 3, 4, 5, 6, -9}, 8) == 3.5);
}

static const double LOW[] = {1, 2, 3, 4, 5}, HIGH[] = {11, 12, 13, 14, 15};

static void arms_apart_are_apart_in_every_replicate(void **state)
{
	(void)state;
	const struct suite_task tasks[] = {{LOW, HIGH, 5, 5}, {LOW, HIGH, 5, 5}};
	struct suite_result r = suite_compare(tasks, 2, 0.05, 7, scores, replicates);
	assert_near(r.comparison.effect, 10, 1e-14);
	assert_true(r.comparison.low > 7 && r.comparison.high < 13 && r.comparison.p < 0.001);
	assert_true(r.improvement == 1 && r.replicates == SUITE_REPLICATES_MAX);
}

static void equal_arms_are_not_told_apart(void **state)
{
	(void)state;
	const struct suite_task tasks[] = {{LOW, LOW, 5, 5}, {HIGH, HIGH, 5, 5}};
	struct suite_result r = suite_compare(tasks, 2, 0.05, 7, scores, replicates);
	assert_true(r.comparison.effect == 0 && r.improvement == 0.5);
	assert_true(r.comparison.low < 0 && r.comparison.high > 0 && r.comparison.p > 0.5);
}

static void the_same_seed_gives_the_same_digits(void **state)
{
	(void)state;
	const struct suite_task task = {LOW, HIGH, 5, 4};
	struct suite_result one = suite_compare(&task, 1, 0.05, 7, scores, replicates);
	struct suite_result same = suite_compare(&task, 1, 0.05, 7, scores, replicates);
	assert_true(one.comparison.low == same.comparison.low);
	/* The first numbers of the generator with the state 1, 2, 3, 4, as its authors' program
	 * prints them. */
	struct suite_random random = {{1, 2, 3, 4}};
	assert_true(suite_random_next(&random) == 41943041);
	assert_true(suite_random_next(&random) == 58720359);
	assert_true(suite_random_next(&random) == UINT64_C(3588806011781223));
}

static void draws_are_within_their_bound_and_reach_all_of_it(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(3);
	size_t seen[7] = {0};
	for (int i = 0; i < 7000; i++)
		seen[suite_random_below(&random, 7)]++;
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		assert_in_range(seen[i], 850, 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_middle_half_is_averaged),
		cmocka_unit_test(arms_apart_are_apart_in_every_replicate),
		cmocka_unit_test(equal_arms_are_not_told_apart),
		cmocka_unit_test(the_same_seed_gives_the_same_digits),
		cmocka_unit_test(draws_are_within_their_bound_and_reach_all_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
