#include "statistics/comparison.h"

#include "base/base.h"
#include "near.h"
#include "reference.h"

static const struct testing FIXED = {.alpha = 0.05};
static const struct testing SEQUENTIAL = {.alpha = 0.05,
                                          .is_sequential = true,
                                          .tuned_units = 5000};

/* The example of GrowthBook's tests. */
static const struct sums CONTROL = {3407, 1396.87, 52377.9767};
static const struct sums TREATMENT = {3461, 2422.7, 134698.29};

static struct sample sample_from(const struct sums *sums)
{
	struct sample sample;
	assert_null(sample_of_sums(sums, &sample));
	return sample;
}

static void means_are_those_of_scipy(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(MEANS); i++) {
		const double *row = MEANS[i];
		struct sample c = {row[0], row[1], row[2]}, t = {row[3], row[4], row[5]};
		struct comparison result = samples_compare(&c, &t, &FIXED);
		/* The difference of the means itself has an error of half a unit of 1000. */
		double error = fabs(row[6]) < 1e-6 * fabs(row[1]) ? 2e-4 : 1e-9;
		assert_near(result.effect, row[6], error);
		assert_near(result.low, row[7], error);
		assert_near(result.high, row[8], error);
		assert_near(result.degrees, row[9], 1e-12);
		assert_near(result.p, row[10], 100 * error);
		assert_near(result.relative_low, row[11], error);
		assert_near(result.relative_high, row[12], error);
	}
}

static void the_example_of_growthbook_comes_out(void **state)
{
	(void)state;
	struct sample c = sample_from(&CONTROL), t = sample_from(&TREATMENT);
	struct comparison fixed = samples_compare(&c, &t, &FIXED);
	assert_near(fixed.effect, 0.29, 1e-10);
	assert_near(fixed.se, 0.12478, 1e-4);
	assert_near(fixed.low, 0.04538, 1e-3);
	assert_near(fixed.high, 0.53462, 1e-4);
	assert_near(fixed.p, 0.02016, 1e-3);
	assert_near(fixed.degrees, 5841.742, 1e-6);
	assert_near(fixed.relative, 0.707317, 1e-6);
	assert_near(fixed.relative_low, 0.094062, 1e-5);
	assert_near(fixed.relative_high, 1.708689, 1e-6);
	struct comparison sequential = samples_compare(&c, &t, &SEQUENTIAL);
	assert_near(testing_rho(&SEQUENTIAL), 0.0398401, 1e-6);
	assert_near(sequential.high - sequential.effect, 0.379410, 1e-5);
	assert_near(sequential.p, 0.290745, 1e-5);
}

static void sums_with_too_few_digits_are_refused(void **state)
{
	(void)state;
	double variance;
	assert_non_null(sums_variance(&(struct sums){10, 100, 900}, &variance));
	assert_non_null(sums_variance(&(struct sums){1e6, 1e12, 1e18 + 1e6}, &variance));
	assert_null(sums_variance(&(struct sums){10, 0, 0}, &variance));
	assert_true(variance == 0);
	assert_null(sums_variance(&(struct sums){1, 3, 9}, &variance));
	assert_true(isnan(variance));
	/* 1e8, 1e8 + 1 and 1e8 + 2, of which the naive formula makes 0: refused, for no digit is
	 * left in the sum of squares. */
	assert_non_null(sums_variance(&(struct sums){3, 3e8 + 3, 3e16 + 6e8 + 5}, &variance));
	assert_non_null(sums_variance(&(struct sums){3, 1e200, 1e300}, &variance));
	assert_non_null(sums_variance(&(struct sums){3, 1e150, 1e301}, &variance));
	/* Values 0 and 1 in 1e12 units. */
	assert_null(sums_variance(&(struct sums){1e12, 5e11, 5e11}, &variance));
	assert_near(variance, 0.25 * 1e12 / (1e12 - 1), 1e-15);
}

/* Three doubles: 0.1, the third of its sum, and one bit less. */
static void values_that_differ_by_rounding_have_no_variance(void **state)
{
	(void)state;
	double values[] = {0.1, (0.1 + 0.1 + 0.1) / 3, 0.3 - 0.2, 0.1};
	struct sample s = sample_of_values(values, ARRAY_LEN(values));
	assert_true(values[1] != 0.1 && values[2] != 0.1);
	assert_true(s.n == 4 && s.variance == 0);
	assert_near(s.mean, 0.1, 1e-15);
	values[3] += 1e-9;
	s = sample_of_values(values, ARRAY_LEN(values));
	assert_near(s.variance, 1e-18 / 4, 1e-6);
	assert_true(isnan(sample_of_values(values, 1).variance));
	assert_true(sample_of_values(values, 0).n == 0);
}

static void without_variance_there_is_no_test(void **state)
{
	(void)state;
	struct sample c = {50, 1, 0}, t = {50, 2, 0};
	struct comparison result = samples_compare(&c, &t, &FIXED);
	assert_true(result.effect == 1 && result.relative == 1 && result.se == 0);
	assert_true(isnan(result.p) && isnan(result.low) && isnan(result.relative_low));
}

static void the_relative_interval_excludes_0_if_and_only_if_p_is_small(void **state)
{
	(void)state;
	for (double effect = -0.4; effect < 0.4; effect += 0.01)
		for (int mode = 0; mode < 2; mode++) {
			struct sample c = {400, 2, 1}, t = {300, 2 + effect, 3};
			const struct testing *how = mode ? &SEQUENTIAL : &FIXED;
			struct comparison r = samples_compare(&c, &t, how);
			bool is_small = r.p <= how->alpha;
			assert_int_equal(is_small, r.low > 0 || r.high < 0);
			assert_int_equal(is_small, r.relative_low > 0 || r.relative_high < 0);
		}
}

static void exchanged_arms_turn_the_sign_and_scales_scale(void **state)
{
	(void)state;
	struct sample c = {40, 3, 2}, t = {30, 3.5, 5};
	struct comparison r = samples_compare(&c, &t, &FIXED);
	struct comparison turned = samples_compare(&t, &c, &FIXED);
	assert_near(turned.low, -r.high, 1e-14);
	assert_near(turned.p, r.p, 1e-14);
	struct sample c7 = {40, 21e-9, 2 * 49e-18}, t7 = {30, 24.5e-9, 5 * 49e-18};
	struct comparison scaled = samples_compare(&c7, &t7, &FIXED);
	assert_near(scaled.high, 7e-9 * r.high, 1e-12);
	assert_near(scaled.relative_high, r.relative_high, 1e-12);
	struct sample minus_c = {40, -3, 2}, minus_t = {30, -3.5, 5};
	struct comparison negative = samples_compare(&minus_c, &minus_t, &FIXED);
	assert_near(negative.relative, -r.relative, 1e-14);
	assert_near(negative.relative_low, -r.relative_high, 1e-12);
}

/* A unit in which the metric is measured changes no relative effect, whatever its size. */
static void units_may_be_very_large_and_very_small(void **state)
{
	(void)state;
	struct sample c = {40, 3, 2}, t = {30, 3.5, 5};
	struct comparison r = samples_compare(&c, &t, &FIXED);
	static const double UNITS[] = {1e-100, 1e-9, 1e9, 1e99};
	for (size_t i = 0; i < ARRAY_LEN(UNITS); i++) {
		double unit = UNITS[i], square = unit * unit;
		struct sample in_c = {40, 3 * unit, 2 * square},
			      in_t = {30, 3.5 * unit, 5 * square};
		struct comparison in = samples_compare(&in_c, &in_t, &FIXED);
		assert_near(in.low, unit * r.low, 1e-12);
		assert_near(in.p, r.p, 1e-12);
		assert_near(in.relative_low, r.relative_low, 1e-12);
		assert_near(in.relative_high, r.relative_high, 1e-12);
	}
}

static void two_units_are_the_fewest(void **state)
{
	(void)state;
	struct sample c = {2, 1, 0.02}, t = {2, 2, 0.02}, none = {2, 1, 0};
	struct comparison r = samples_compare(&c, &t, &FIXED);
	assert_near(r.degrees, 2, 1e-12);
	assert_near(r.high - r.effect, 4.3026527297 * sqrt(0.02), 1e-9);
	/* The spread of one arm alone has one degree of freedom. */
	r = samples_compare(&none, &t, &FIXED);
	assert_near(r.degrees, 1, 1e-12);
	assert_near(r.high - r.effect, 12.706204736 * 0.1, 1e-9);
}

static void a_baseline_near_0_has_no_relative_interval(void **state)
{
	(void)state;
	struct sample c = {100, 0.1, 1}, t = {100, 0.5, 1};
	struct comparison r = samples_compare(&c, &t, &FIXED);
	assert_false(isnan(r.relative) || isnan(r.low));
	assert_true(isnan(r.relative_low) && isnan(r.relative_high));
}

static void ratios_are_of_sums_and_vary_with_both(void **state)
{
	(void)state;
	/* Four units: numerators 1 2 3 4, denominators 2 2 4 4. */
	struct sample sample;
	assert_null(sample_of_ratio(&(struct ratio_sums){4, 10, 30, 12, 40, 34}, &sample));
	assert_near(sample.mean, 10.0 / 12, 1e-15);
	double r = 10.0 / 12, above = 5.0 / 3, below = 4.0 / 3, cov = 4.0 / 3;
	assert_near(sample.variance, (above - 2 * r * cov + r * r * below) / 9, 1e-13);
	/* Denominators of 3, then numerators of 2, then both. */
	assert_null(sample_of_ratio(&(struct ratio_sums){4, 10, 30, 12, 36, 30}, &sample));
	assert_near(sample.variance, above / 9, 1e-13);
	assert_null(sample_of_ratio(&(struct ratio_sums){4, 8, 16, 12, 40, 24}, &sample));
	assert_near(sample.variance, below * 4 / 9 / 9, 1e-13);
	assert_null(sample_of_ratio(&(struct ratio_sums){4, 8, 16, 12, 36, 24}, &sample));
	assert_true(sample.variance == 0);
	assert_non_null(sample_of_ratio(&(struct ratio_sums){4, 8, 16, 12, 36, 30}, &sample));
	assert_non_null(sample_of_ratio(&(struct ratio_sums){4, 10, 30, 0, 40, 34}, &sample));
	assert_non_null(sample_of_ratio(&(struct ratio_sums){4, 10, 30, 12, 40, 90}, &sample));
}

static void a_pre_period_takes_out_what_it_foretells(void **state)
{
	(void)state;
	struct sample c = {100, 10, 4}, t = {100, 10.5, 4};
	struct pre_period before = {10, 4, 3.6};
	double theta;
	struct comparison plain = samples_compare(&c, &t, &FIXED);
	struct comparison r = samples_compare_adjusted(&c, &before, &t, &before, &FIXED, &theta);
	assert_near(theta, 0.9, 1e-12);
	assert_near(r.se * r.se, 2 * (4 + 0.81 * 4 - 1.8 * 3.6) / 100, 1e-12);
	assert_near(r.effect, plain.effect, 1e-12);
	assert_near(r.relative, 0.05, 1e-12);
	struct pre_period constant = {10, 0, 0};
	r = samples_compare_adjusted(&c, &constant, &t, &constant, &FIXED, &theta);
	assert_true(isnan(theta) && r.se == plain.se);
	struct pre_period other = {20, 0, 0};
	r = samples_compare_adjusted(&c, &constant, &t, &other, &FIXED, &theta);
	assert_true(isnan(theta) && r.effect == plain.effect);
}

static void quantiles_need_enough_units(void **state)
{
	(void)state;
	assert_true(quantile_is_enough(4, 0.5) && !quantile_is_enough(3, 0.5));
	assert_true(quantile_is_enough(381, 0.99) && !quantile_is_enough(380, 0.99));
	assert_true(quantile_is_enough(381, 0.01) && !quantile_is_enough(380, 0.01));
	struct quantile c = {1000, 10, 9.02, 10.98}, t = {1000, 11, 10.02, 11.98};
	struct comparison r = quantiles_compare(&c, &t, &FIXED);
	assert_near(r.se, 1.96 / 2 / 1.959963984540054 * M_SQRT2, 1e-12);
	assert_near(r.p, 0.15725, 1e-3);
}

static void one_arm_has_the_interval_of_student(void **state)
{
	(void)state;
	double low, high;
	sample_interval(&(struct sample){3, 5, 3}, 0.05, &low, &high);
	assert_near(high - low, 2 * 4.3026527297, 1e-9);
	sample_interval(&(struct sample){1, 5, NAN}, 0.05, &low, &high);
	assert_true(isnan(low) && isnan(high));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_are_those_of_scipy),
		cmocka_unit_test(the_example_of_growthbook_comes_out),
		cmocka_unit_test(sums_with_too_few_digits_are_refused),
		cmocka_unit_test(values_that_differ_by_rounding_have_no_variance),
		cmocka_unit_test(without_variance_there_is_no_test),
		cmocka_unit_test(the_relative_interval_excludes_0_if_and_only_if_p_is_small),
		cmocka_unit_test(exchanged_arms_turn_the_sign_and_scales_scale),
		cmocka_unit_test(units_may_be_very_large_and_very_small),
		cmocka_unit_test(two_units_are_the_fewest),
		cmocka_unit_test(a_baseline_near_0_has_no_relative_interval),
		cmocka_unit_test(ratios_are_of_sums_and_vary_with_both),
		cmocka_unit_test(a_pre_period_takes_out_what_it_foretells),
		cmocka_unit_test(quantiles_need_enough_units),
		cmocka_unit_test(one_arm_has_the_interval_of_student),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
