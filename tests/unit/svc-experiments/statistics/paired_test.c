#include "statistics/paired.h"

#include "base/base.h"
#include "near.h"
#include "reference.h"
#include "statistics/verdict.h"

static const struct testing FIXED = {.alpha = 0.05};

static void pairs_of_0_and_1_are_those_of_the_papers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PAIRS); i++) {
		const double *row = PAIRS[i];
		struct discordance pairs = {row[0], row[1], row[2], 0};
		struct comparison r = discordance_compare(&pairs, &FIXED);
		assert_near(r.effect, row[3], 1e-14);
		assert_near(r.low, row[4], 1e-9);
		assert_near(r.high, row[5], 1e-9);
		assert_near(r.p, row[6], 1e-9);
	}
}

/* Tango's bounds of pairs that all agree are -+ z^2 / (n + z^2). */
static void pairs_that_agree_have_a_relative_interval(void **state)
{
	(void)state;
	static const double SQUARE = 3.841458820694124;
	static const struct discordance HALF = {10000, 0, 0, 5000}, NONE = {10000, 0, 0, 0},
					FEW = {10000, 0, 0, 3}, WORSE = {50, 0, 50, 0};
	struct comparison r = discordance_compare(&HALF, &FIXED);
	assert_true(r.effect == 0 && r.relative == 0 && r.p == 1);
	assert_near(r.high, SQUARE / (10000 + SQUARE), 1e-9);
	assert_near(r.relative_high, 2 * r.high, 1e-14);
	assert_near(r.relative_low, 2 * r.low, 1e-14);
	struct verdict_question question = {&r, r.p, 0.05, 0.005, false, false};
	assert_int_equal(verdict_of(&question), VERDICT_EQUAL);
	assert_true(isnan(discordance_compare(&NONE, &FIXED).relative_high));
	assert_true(isnan(discordance_compare(&FEW, &FIXED).relative_high));
	r = discordance_compare(&WORSE, &FIXED);
	assert_true(r.relative == -1 && r.relative_low == r.low && r.relative_high == r.high);
}

static void differences_without_clusters_are_a_paired_t(void **state)
{
	(void)state;
	/* Differences 1, 2, 3, 2: mean 2, variance 2/3, t 4.898979 with 3 degrees, p 0.016277. */
	static const struct example_pair PAIRS_OF_4[] = {{1, 2, 0},
	                                                 {2, 4, 1},
	                                                 {1, 4, 2},
	                                                 {3, 5, 3}};
	double sums[12];
	struct comparison r = pairs_compare(PAIRS_OF_4, 4, 4, sums, &FIXED);
	assert_near(r.effect, 2, 1e-14);
	assert_near(r.se, sqrt(2.0 / 3 / 4), 1e-14);
	assert_near(r.p, 0.016276603, 1e-6);
	assert_near(r.high - r.low, 2 * 3.182446305284263 * r.se, 1e-9);
	assert_true(r.relative_low > 0 && r.relative_high > r.relative);
}

static void clusters_widen_the_interval_of_what_comes_together(void **state)
{
	(void)state;
	struct example_pair pairs[40];
	double sums[120];
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		pairs[i] = (struct example_pair){0, (i / 4) % 2 ? 1 : 0.2, i};
	struct comparison alone = pairs_compare(pairs, 40, 40, sums, &FIXED);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		pairs[i].cluster = i / 4;
	struct comparison together = pairs_compare(pairs, 40, 10, sums, &FIXED);
	assert_near(together.se / alone.se, 2 * sqrt(10.0 / 9 * 39 / 40), 1e-12);
	assert_true(together.degrees == 9 && together.effect == alone.effect);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		pairs[i].cluster = 0;
	struct comparison one = pairs_compare(pairs, 40, 1, sums, &FIXED);
	assert_true(!(one.se > 0) && isnan(one.p) && one.effect == alone.effect);
}

/* 0.6 - 0.5, 0.7 - 0.6 and 0.8 - 0.7 are three doubles. */
static void differences_by_rounding_are_no_variance(void **state)
{
	(void)state;
	struct example_pair pairs[] = {{0.5, 0.6, 0}, {0.6, 0.7, 1}, {0.7, 0.8, 2}};
	double sums[9];
	struct comparison r = pairs_compare(pairs, 3, 3, sums, &FIXED);
	assert_near(r.effect, 0.1, 1e-14);
	assert_near(r.relative, 0.1 / 0.6, 1e-14);
	assert_true(isnan(r.p) && isnan(r.low) && isnan(r.relative_low));
	pairs[2].treatment += 1e-9;
	assert_true(pairs_compare(pairs, 3, 3, sums, &FIXED).p < 1e-9);
}

/* A third of each group got better. Their sums differ from the mean by a bit or two. */
static void clusters_that_are_equal_but_for_rounding_are_no_variance(void **state)
{
	(void)state;
	struct example_pair pairs[30];
	double sums[30];
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		pairs[i] = (struct example_pair){0, i % 3 == 0 ? 1 : 0, i / 3};
	struct comparison r = pairs_compare(pairs, 30, 10, sums, &FIXED);
	assert_near(r.effect, 1.0 / 3, 1e-14);
	assert_true(isnan(r.p) && isnan(r.low));
}

static void pass_at_k_is_that_of_the_paper(void **state)
{
	(void)state;
	assert_near(pass_at_k(10, 3, 5), 0.9166666666666667, 1e-14);
	assert_near(pass_at_k(10, 3, 1), 0.3, 1e-14);
	assert_true(pass_at_k(10, 0, 5) == 0 && pass_at_k(10, 6, 5) == 1);
	assert_near(pass_at_k(200, 1, 100), 0.5, 1e-13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_of_0_and_1_are_those_of_the_papers),
		cmocka_unit_test(pairs_that_agree_have_a_relative_interval),
		cmocka_unit_test(differences_without_clusters_are_a_paired_t),
		cmocka_unit_test(clusters_widen_the_interval_of_what_comes_together),
		cmocka_unit_test(differences_by_rounding_are_no_variance),
		cmocka_unit_test(clusters_that_are_equal_but_for_rounding_are_no_variance),
		cmocka_unit_test(pass_at_k_is_that_of_the_paper),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
