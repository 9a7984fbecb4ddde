#include "statistics/distribution.h"

#include "base/base.h"
#include "near.h"
#include "reference.h"

static void probabilities_have_ten_digits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(STUDENT); i++)
		assert_near(student_p(STUDENT[i][0], STUDENT[i][1]), STUDENT[i][2], 1e-10);
	for (size_t i = 0; i < ARRAY_LEN(CHI_SQUARE); i++)
		assert_near(chi_square_p(CHI_SQUARE[i][0], (int)CHI_SQUARE[i][1]), CHI_SQUARE[i][2],
		            1e-12);
}

static void probabilities_do_not_jump_where_the_method_changes(void **state)
{
	(void)state;
	for (double t = 0.01; t < 12; t *= 1.3)
		assert_near(student_p(t, 10000.000001), student_p(t, 10000), 1e-10);
}

static void quantiles_have_ten_digits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(NORMAL_QUANTILE); i++)
		assert_near(normal_quantile(NORMAL_QUANTILE[i][0]), NORMAL_QUANTILE[i][1], 1e-13);
	for (size_t i = 0; i < ARRAY_LEN(STUDENT_CRITICAL); i++)
		assert_near(student_critical(STUDENT_CRITICAL[i][0], STUDENT_CRITICAL[i][1]),
		            STUDENT_CRITICAL[i][2], 1e-10);
}

static void ends_are_exact(void **state)
{
	(void)state;
	assert_true(student_p(0, 3) == 1);
	assert_true(student_p(INFINITY, 3) == 0);
	assert_true(student_p(-2, 7) == student_p(2, 7));
	assert_true(student_p(1.5, INFINITY) == normal_p(1.5));
	assert_true(student_critical(0.05, INFINITY) == -normal_quantile(0.025));
	assert_true(chi_square_p(0, 1) == 1 && chi_square_p(0, 4) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probabilities_have_ten_digits),
		cmocka_unit_test(probabilities_do_not_jump_where_the_method_changes),
		cmocka_unit_test(quantiles_have_ten_digits),
		cmocka_unit_test(ends_are_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
