#include "statistics/multiplicity.h"

#include "base/base.h"
#include "near.h"
#include "reference.h"
#include "statistics/allocation.h"

static void check(void (*adjust)(double *, size_t), const double (*rows)[2], size_t count)
{
	double p[8];
	for (size_t i = 0; i < count; i++)
		p[i] = rows[i][0];
	adjust(p, count);
	for (size_t i = 0; i < count; i++)
		assert_near(p[i], rows[i][1], 1e-14);
}

static void adjusted_p_are_those_of_statsmodels(void **state)
{
	(void)state;
	check(holm_adjust, HOLM, ARRAY_LEN(HOLM));
	check(benjamini_hochberg_adjust, BENJAMINI_HOCHBERG, ARRAY_LEN(BENJAMINI_HOCHBERG));
}

static void what_is_no_test_counts_for_none(void **state)
{
	(void)state;
	double p[] = {NAN, 0.02, NAN, 0.04};
	holm_adjust(p, ARRAY_LEN(p));
	assert_true(isnan(p[0]) && p[1] == 0.04 && isnan(p[2]) && p[3] == 0.04);
	holm_adjust(NULL, 0);
}

static void allocation_is_a_chi_square_test(void **state)
{
	(void)state;
	static const double EQUAL[] = {1, 1}, UNEQUAL[] = {0.2, 0.8};
	struct allocation a = allocation_test((double[]){10000, 10450}, EQUAL, 2);
	assert_near(a.chi_square, 9.9022, 1e-5);
	assert_near(a.p, 0.0016508, 1e-4);
	assert_false(a.is_broken);
	a = allocation_test((double[]){1000, 1200}, EQUAL, 2);
	assert_near(a.chi_square, 18.1818, 1e-5);
	assert_near(a.p, 2.0079e-5, 1e-4);
	assert_true(a.is_broken && a.degrees == 1);
	a = allocation_test((double[]){200, 800}, UNEQUAL, 2);
	assert_true(a.p == 1 && !a.is_broken);
	a = allocation_test((double[]){7, 1}, EQUAL, 2);
	assert_true(isnan(a.p) && !a.is_broken);
	a = allocation_test((double[]){1e12, 1e12 + 1e7}, EQUAL, 2);
	assert_true(a.is_broken);
}

static void an_arm_without_weight_must_be_empty(void **state)
{
	(void)state;
	static const double WEIGHTS[] = {1, 1, 0};
	assert_false(allocation_test((double[]){50, 50, 0}, WEIGHTS, 3).is_broken);
	assert_true(allocation_test((double[]){50, 50, 1}, WEIGHTS, 3).is_broken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adjusted_p_are_those_of_statsmodels),
		cmocka_unit_test(what_is_no_test_counts_for_none),
		cmocka_unit_test(allocation_is_a_chi_square_test),
		cmocka_unit_test(an_arm_without_weight_must_be_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
