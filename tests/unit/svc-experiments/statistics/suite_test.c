#include "statistics/suite.h"

#include "base/base.h"
#include "near.h"
#include "statistics/distribution.h"

static struct suite_result compare_as(const struct suite_task *tasks, size_t count,
                                      const struct suite_testing *how)
{
	struct arena *scratch = arena_new();
	struct suite_result r = suite_compare(scratch, tasks, count, how);
	arena_free(scratch);
	return r;
}

static struct suite_result compare(const struct suite_task *tasks, size_t count)
{
	return compare_as(tasks, count, &(struct suite_testing){0.05, 7, SUITE_DRAWS_MAX});
}

#define assert_middle(expected, ...)                                                             \
	do {                                                                                     \
		static const double SCORES[] = {__VA_ARGS__};                                    \
		struct suite_task task = {SCORES, SCORES, ARRAY_LEN(SCORES), ARRAY_LEN(SCORES)}; \
		assert_true(compare(&task, 1).control == (expected));                            \
	} while (0)

static void the_middle_half_is_averaged(void **state)
{
	(void)state;
	assert_middle(2.5, 100, 2, 3, -50);
	assert_middle(2, 3, 1, 2);
	assert_middle(7, 7);
	assert_middle(3.5, 9, 1, 2, 3, 4, 5, 6, -9);
}

static const double LOW[] = {1, 2, 3, 4, 5}, HIGH[] = {11, 12, 13, 14, 15};

static void arms_apart_are_apart_in_every_replicate(void **state)
{
	(void)state;
	const struct suite_task tasks[] = {{LOW, HIGH, 5, 5}, {LOW, HIGH, 5, 5}};
	struct suite_result r = compare(tasks, 2);
	assert_near(r.comparison.effect, 10, 1e-14);
	assert_true(r.comparison.low > 7 && r.comparison.high < 13 && r.comparison.p < 0.01);
	assert_near(r.comparison.relative, 10.0 / 3, 1e-14);
	assert_true(r.comparison.relative_low > 1.5 && r.comparison.relative_low < 10.0 / 3);
	assert_true(r.comparison.relative_high > 10.0 / 3 && r.comparison.relative_high < 8);
	assert_true(r.improvement == 1 && r.replicates == SUITE_REPLICATES_MAX);
}

static void equal_arms_are_not_told_apart(void **state)
{
	(void)state;
	const struct suite_task tasks[] = {{LOW, LOW, 5, 5}, {HIGH, HIGH, 5, 5}};
	struct suite_result r = compare(tasks, 2);
	assert_true(r.comparison.effect == 0 && r.improvement == 0.5);
	assert_true(r.comparison.low < 0 && r.comparison.high > 0 && r.comparison.p > 0.5);
}

/* By hand: of 1 to 5 one is cut off at each end, which leaves 2, 2, 3, 4, 4 with squares of 4, and
 * of 11 to 15 the same; h is 3. */
static void the_interval_is_wider_than_that_of_the_draws(void **state)
{
	(void)state;
	const struct suite_task task = {LOW, HIGH, 5, 5};
	struct comparison c = compare(&task, 1).comparison;
	assert_near(c.se * c.se, 2 * (4.0 / (3 * 2)), 1e-14);
	assert_near(c.degrees, 8, 1e-14);
	assert_near(c.critical, 2.306004135204166, 1e-12);
}

static void runs_that_do_not_vary_are_no_test(void **state)
{
	(void)state;
	static const double SAME[] = {0.5, 0.5, 0.5, 0.5, 0.5}, OTHER[] = {0.6, 0.6, 0.6, 0.6, 0.6};
	const struct suite_task task = {SAME, OTHER, 5, 5};
	struct suite_result r = compare(&task, 1);
	assert_near(r.comparison.effect, 0.1, 1e-14);
	assert_near(r.comparison.relative, 0.2, 1e-14);
	assert_true(isnan(r.comparison.p) && isnan(r.comparison.low) && r.replicates == 0);
	assert_true(r.improvement == 1);
}

/* A bound of the draws leaves fewer replicates, none of which is so far out: Student's interval. */
static void draws_are_bounded(void **state)
{
	(void)state;
	const struct suite_task task = {LOW, HIGH, 5, 5};
	struct suite_result r = compare_as(&task, 1, &(struct suite_testing){0.05, 7, 199});
	struct comparison c = r.comparison;
	assert_int_equal(r.replicates, 19);
	assert_near(c.low, 10 - c.critical * c.se, 1e-14);
	assert_near(c.high, 10 + c.critical * c.se, 1e-14);
	assert_near(c.p, student_p(10 / c.se, 8), 1e-14);
}

static double uniform(struct suite_random *random)
{
	return (double)suite_random_below(random, 1000) / 1000;
}

/* The percentiles that five runs need for 1 % are beyond the last of 10,000 replicates. */
static void few_runs_and_a_small_alpha_agree_too(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(13);
	size_t significant = 0;
	for (int i = 0; i < 60; i++) {
		double control[5], treatment[5];
		for (int k = 0; k < 5; k++) {
			control[k] = 10 + uniform(&random);
			treatment[k] = 10 + 0.03 * i + uniform(&random);
		}
		const struct suite_task task = {control, treatment, 5, 5};
		struct comparison c =
			compare_as(&task, 1, &(struct suite_testing){0.01, 7, SUITE_DRAWS_MAX})
				.comparison;
		assert_true((c.p <= 0.01) == (c.low > 0 || c.high < 0));
		assert_true((c.p <= 0.01) == (c.relative_low > 0 || c.relative_high < 0));
		significant += c.p <= 0.01;
	}
	assert_in_range(significant, 10, 50);
}

/* p and both intervals say the same. */
static void intervals_exclude_0_if_and_only_if_p_is_small(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(11);
	size_t significant = 0;
	for (int i = 0; i < 60; i++) {
		double control[20], treatment[20];
		for (int k = 0; k < 20; k++) {
			control[k] = 1 + uniform(&random);
			treatment[k] = 1.0 + 0.01 * i + uniform(&random);
		}
		const struct suite_task tasks[] = {{control, treatment, 10, 10},
		                                   {control + 10, treatment + 10, 10, 10}};
		struct comparison c = compare(tasks, 2).comparison;
		assert_true((c.p <= 0.05) == (c.low > 0 || c.high < 0));
		assert_true((c.p <= 0.05) == (c.relative_low > 0 || c.relative_high < 0));
		significant += c.p <= 0.05;
	}
	assert_in_range(significant, 10, 50);
}

/* Beside counting every pair of runs, ties half. */
static void improvement_is_the_share_of_pairs(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(5);
	double control[40], treatment[30], wins = 0;
	for (size_t i = 0; i < 40; i++)
		control[i] = (double)suite_random_below(&random, 10);
	for (size_t i = 0; i < 30; i++)
		treatment[i] = (double)suite_random_below(&random, 12);
	for (size_t i = 0; i < 40 * 30; i++) {
		double c = control[i / 30], t = treatment[i % 30];
		wins += t > c ? 1 : t == c ? 0.5 : 0;
	}
	const struct suite_task task = {control, treatment, 40, 30};
	assert_near(compare(&task, 1).improvement, wins / 1200, 1e-14);
}

static void the_same_seed_gives_the_same_digits(void **state)
{
	(void)state;
	const struct suite_task task = {LOW, HIGH, 5, 4};
	assert_true(compare(&task, 1).comparison.low == compare(&task, 1).comparison.low);
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
		cmocka_unit_test(the_interval_is_wider_than_that_of_the_draws),
		cmocka_unit_test(runs_that_do_not_vary_are_no_test),
		cmocka_unit_test(draws_are_bounded),
		cmocka_unit_test(few_runs_and_a_small_alpha_agree_too),
		cmocka_unit_test(intervals_exclude_0_if_and_only_if_p_is_small),
		cmocka_unit_test(improvement_is_the_share_of_pairs),
		cmocka_unit_test(the_same_seed_gives_the_same_digits),
		cmocka_unit_test(draws_are_within_their_bound_and_reach_all_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
