#include "preference/logistic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_auc_of_known_orders(void **state)
{
	(void)state;
	static const double labels[] = {1, 1, -1, -1};
	static const struct {
		double scores[4];
		double area;
	} rows[] = {
		{{4, 3, 2, 1}, 1},    {{1, 2, 3, 4}, 0},   {{4, 1, 3, 2}, 0.5},
		{{4, 2, 3, 1}, 0.75}, {{1, 1, 1, 1}, 0.5}, {{2, 1, 1, 0}, 0.875},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_true(auc(rows[i].scores, labels, 4) == rows[i].area);
	assert_true(isnan(auc(rows[0].scores, labels, 2)));
	assert_true(isnan(auc(NULL, NULL, 0)));
}

/* Two columns; each row has a single number. */
static const struct cell cells[] = {{0, 1}, {0, 1}, {1, 1}, {1, 1}};
static const size_t starts[] = {0, 1, 2, 3, 4};
static const struct matrix matrix = {cells, starts, 4, 2};
static const double labels_apart[] = {1, 1, -1, -1};

/* At the minimum the gradient is 0: w0 = 2 c sigmoid(-w0 - b), and w1 likewise. By symmetry b = 0
 * and w1 = -w0. */
static void test_fit_is_at_the_minimum(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const double weights[] = {3, 3, 3, 3};
	struct linear linear = logistic_fit(arena, &matrix, labels_apart, weights);
	double w = linear.weights[0];
	assert_true(w > 0);
	assert_true(fabs(linear.bias) < 1e-3);
	assert_true(fabs(linear.weights[1] + w) < 1e-3);
	assert_true(fabs(w - 6 / (1 + exp(w))) < 1e-3);
	arena_free(arena);
}

static void test_rows_of_weight_0_are_ignored(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const double weights[] = {1, 0, 1, 0}, wrong[] = {1, -1, -1, 1};
	struct linear linear = logistic_fit(arena, &matrix, wrong, weights);
	assert_true(linear.weights[0] > 0.1);
	assert_true(linear.weights[1] < -0.1);
	arena_free(arena);
}

static void test_fit_without_rows_is_0(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const size_t no_starts[] = {0};
	static const struct matrix empty = {NULL, no_starts, 0, 3};
	struct linear linear = logistic_fit(arena, &empty, NULL, NULL);
	assert_true(linear.weights[0] == 0 && linear.bias == 0);
	arena_free(arena);
}

static void test_calibration_follows_the_labels(void **state)
{
	(void)state;
	static const double scores[] = {0.9, 0.8, 0.7, 0.2, 0.1, 0.75, 0.3, 0.0};
	static const double labels[] = {1, 1, 1, -1, -1, -1, 1, -1};
	struct calibration fitted = calibration_fit(scores, labels, ARRAY_LEN(scores));
	assert_true(fitted.slope > 0);
	assert_true(calibration_apply(&fitted, 0.9) > 0.6);
	assert_true(calibration_apply(&fitted, 0.05) < 0.4);
	assert_true(calibration_apply(&fitted, INFINITY) == 1);
	assert_true(calibration_apply(&fitted, -INFINITY) == 0);
	assert_true(calibration_apply(&fitted, NAN) == 0);
}

static void assert_flat(struct calibration fitted)
{
	assert_true(fitted.slope > 0);
	assert_true(fabs(calibration_apply(&fitted, 1) - 0.5) < 0.01);
}

static void test_calibration_is_flat_when_scores_do_not_separate(void **state)
{
	(void)state;
	static const double labels[] = {1, -1, 1, -1};
	static const double equal[] = {2, 2, 2, 2}, inverted[] = {0, 1, 0.1, 0.9};
	assert_flat(calibration_fit(equal, labels, 4));
	assert_flat(calibration_fit(inverted, labels, 4));
	assert_flat(calibration_fit(equal, labels, 1));
	assert_flat(calibration_fit(NULL, NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_auc_of_known_orders),
		cmocka_unit_test(test_fit_is_at_the_minimum),
		cmocka_unit_test(test_rows_of_weight_0_are_ignored),
		cmocka_unit_test(test_fit_without_rows_is_0),
		cmocka_unit_test(test_calibration_follows_the_labels),
		cmocka_unit_test(test_calibration_is_flat_when_scores_do_not_separate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
