#include "statistics/proportion.h"

#include "base/base.h"
#include "near.h"
#include "reference.h"

static const struct testing FIXED = {.alpha = 0.05};
static const struct testing SEQUENTIAL = {.alpha = 0.05,
                                          .is_sequential = true,
                                          .tuned_units = 5000};

/* The digits that a bound can have: it is a difference from a proportion, which has 16. */
static void assert_bound(double is, double expected, double scale)
{
	if (!is_near(is, expected, 1e-9) && fabs(is - expected) > 1e-15 * scale)
		fail_msg("%.17g is not %.17g", is, expected);
}

static void intervals_are_those_of_the_papers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PROPORTIONS); i++) {
		const double *row = PROPORTIONS[i];
		struct proportion c = {row[1], row[0]}, t = {row[3], row[2]};
		struct comparison r = proportions_compare(&c, &t, &FIXED);
		double low, high;
		assert_bound(r.effect, row[4], 1);
		assert_bound(r.low, row[5], 1);
		assert_bound(r.high, row[6], 1);
		assert_near(r.p, row[7], 1e-8);
		assert_bound(r.relative, row[8], 1);
		assert_bound(r.relative_low, row[9], 10);
		assert_bound(r.relative_high, row[10], 10);
		proportion_interval(&c, 0.05, &low, &high);
		assert_bound(low, row[11], 4);
		assert_bound(high, row[12], 4);
	}
}

static void intervals_hold_at_no_and_all_successes(void **state)
{
	(void)state;
	static const struct proportion NONE = {20, 0}, ALL = {20, 20};
	struct comparison same = proportions_compare(&NONE, &NONE, &FIXED);
	assert_true(same.effect == 0 && same.p == 1 && same.low < 0 && same.high > 0);
	struct comparison apart = proportions_compare(&NONE, &ALL, &FIXED);
	assert_true(apart.effect == 1 && apart.low > 0.7 && apart.p < 1e-9 && apart.high <= 1);
	assert_true(isnan(apart.relative));
	double low, high;
	proportion_interval(&NONE, 0.05, &low, &high);
	assert_true(low == 0 && high > 0.1);
	proportion_interval(&ALL, 0.05, &low, &high);
	assert_true(low < 0.9 && high == 1);
}

static void exchanged_arms_turn_the_sign(void **state)
{
	(void)state;
	for (double x = 0; x <= 12; x++) {
		struct proportion c = {12, x}, t = {30, 11};
		struct comparison r = proportions_compare(&c, &t, &FIXED);
		struct comparison turned = proportions_compare(&t, &c, &FIXED);
		assert_near(turned.low, -r.high, 1e-9);
		assert_near(turned.p, r.p, 1e-9);
	}
}

static void intervals_exclude_0_if_and_only_if_p_is_small(void **state)
{
	(void)state;
	for (double x = 0; x <= 60; x++) {
		struct proportion c = {80, 20}, t = {60, x};
		struct comparison r = proportions_compare(&c, &t, &FIXED);
		bool is_small = r.p <= 0.05;
		assert_int_equal(is_small, r.low > 0 || r.high < 0);
		assert_int_equal(is_small, r.relative_low > 0 || r.relative_high < 0);
	}
}

static void sequential_intervals_are_wider(void **state)
{
	(void)state;
	struct proportion c = {1000, 120}, t = {1000, 150};
	struct comparison fixed = proportions_compare(&c, &t, &FIXED);
	struct comparison sequential = proportions_compare(&c, &t, &SEQUENTIAL);
	assert_true(sequential.low < fixed.low && sequential.high > fixed.high);
	assert_true(sequential.p > fixed.p && sequential.effect == fixed.effect);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_those_of_the_papers),
		cmocka_unit_test(intervals_hold_at_no_and_all_successes),
		cmocka_unit_test(exchanged_arms_turn_the_sign),
		cmocka_unit_test(intervals_exclude_0_if_and_only_if_p_is_small),
		cmocka_unit_test(sequential_intervals_are_wider),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
