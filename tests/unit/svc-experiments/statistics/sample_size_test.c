#include "statistics/sample_size.h"

#include "near.h"

static const struct testing FIXED = {.alpha = 0.05};
static const struct testing SEQUENTIAL = {.alpha = 0.05,
                                          .is_sequential = true,
                                          .tuned_units = 5000};

static void sizes_are_those_of_the_textbook(void **state)
{
	(void)state;
	assert_true(sample_size_of_proportions(0.10, 0.12, 0.8, &FIXED) == 3841);
	assert_true(sample_size_of_means(0.1, 2, 0.8, &FIXED) == 1570);
	assert_true(sample_size_of_means(0.03, 1.0 / 9, 0.8, &FIXED) == 969);
	assert_true(isinf(sample_size_of_means(1e-9, 2, 0.8, &FIXED)));
}

/* An experiment of the size that is needed finds the effect: the two formulas are inverses. */
static void what_is_needed_is_what_is_detected(void **state)
{
	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		const struct testing *how = mode ? &SEQUENTIAL : &FIXED;
		double n = sample_size_of_means(0.1, 2, 0.8, how);
		struct sample c = {n, 5, 1}, t = {n, 5, 1};
		struct comparison r = samples_compare(&c, &t, how);
		assert_near(minimum_detectable(&r, 0.8), 0.1, 1e-3);
		assert_near(needed_units(&r, 2 * n, 0.1, 0.8, how), 2 * n, 1e-3);
	}
	assert_true(sample_size_of_means(0.1, 2, 0.8, &SEQUENTIAL) >
	            sample_size_of_means(0.1, 2, 0.8, &FIXED));
}

static void nothing_is_detected_without_variance(void **state)
{
	(void)state;
	struct comparison r = {.se = 0, .critical = NAN};
	assert_true(isnan(minimum_detectable(&r, 0.8)));
	assert_true(isnan(needed_units(&r, 10, 0.1, 0.8, &FIXED)));
	r.se = 1;
	assert_true(isnan(needed_units(&r, 10, 0, 0.8, &FIXED)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_those_of_the_textbook),
		cmocka_unit_test(what_is_needed_is_what_is_detected),
		cmocka_unit_test(nothing_is_detected_without_variance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
