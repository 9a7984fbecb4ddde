#include "engine/vector/linalg.h"

#include "corpus.h"
#include "engine/vector/simd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(struct random_source *noise, float *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (float)random_below(noise, 2001) / 1000 - 1;
}

static double column_product(const float *matrix, size_t rows, size_t columns, size_t a, size_t b)
{
	double sum = 0;
	for (size_t row = 0; row < rows; row++)
		sum += (double)matrix[row * columns + a] * matrix[row * columns + b];
	return sum;
}

static void test_columns_become_orthonormal(void **state)
{
	struct random_source noise = {61};
	(void)state;
	float matrix[200 * 17];
	fill(&noise, matrix, ARRAY_LEN(matrix));
	linalg_orthonormalise(matrix, 200, 17);
	for (size_t a = 0; a < 17; a++)
		for (size_t b = 0; b < 17; b++)
			assert_true(fabs(column_product(matrix, 200, 17, a, b) - (a == b)) < 1e-4);
}

static void test_dependent_columns_stay_finite(void **state)
{
	float matrix[50 * 4] = {0};
	(void)state;
	for (size_t row = 0; row < 50; row++) {
		matrix[row * 4] = matrix[row * 4 + 1] = (float)row;
		matrix[row * 4 + 2] = 1;
	}
	linalg_orthonormalise(matrix, 50, 4);
	for (size_t i = 0; i < ARRAY_LEN(matrix); i++)
		assert_true(isfinite(matrix[i]));
	assert_true(fabs(column_product(matrix, 50, 4, 0, 0) - 1) < 1e-3);
}

static void test_eigenvectors_solve_the_equation(void **state)
{
	enum { N = 20 };
	struct random_source noise = {62};

	(void)state;
	double matrix[N * N];
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j <= i; j++)
			matrix[i * N + j] = matrix[j * N + i] =
				(double)random_below(&noise, 2001) / 1000 - 1;
	double kept[N * N];
	memcpy(kept, matrix, sizeof(kept));
	double values[N];
	double vectors[N * N];
	linalg_eigen(matrix, N, values, vectors);
	for (size_t v = 0; v < N; v++) {
		assert_true(v == 0 || values[v - 1] >= values[v]);
		for (size_t i = 0; i < N; i++) {
			double product = 0;
			for (size_t j = 0; j < N; j++)
				product += kept[i * N + j] * vectors[v * N + j];
			assert_true(fabs(product - values[v] * vectors[v * N + i]) < 1e-9);
		}
	}
}

static void test_inner_loops_match_plain_sums(void **state)
{
	struct random_source noise = {63};
	(void)state;
	for (size_t count = 0; count < 70; count++) {
		float a[70] = {0};
		float b[70] = {0};
		float sum[70] = {0};
		float sum_i8[70] = {0};
		int8_t row[70] = {0};
		double product = 0;
		fill(&noise, a, count);
		fill(&noise, b, count);
		memcpy(sum, a, sizeof(a));
		memcpy(sum_i8, a, sizeof(a));
		for (size_t i = 0; i < count; i++) {
			row[i] = (int8_t)(random_below(&noise, 255) - 127);
			product += (double)a[i] * b[i];
		}
		simd_add_scaled(sum, 0.5f, b, count);
		simd_add_scaled_i8(sum_i8, 0.5f, row, count);
		assert_true(fabs(simd_dot(a, b, count) - product) < 1e-4);
		for (size_t i = 0; i < count; i++) {
			assert_true(fabsf(sum[i] - (a[i] + 0.5f * b[i])) < 1e-5f);
			assert_true(fabsf(sum_i8[i] - (a[i] + 0.5f * (float)row[i])) < 1e-4f);
		}
	}
}

static void test_products_with_byte_rows_match_plain_sums(void **state)
{
	struct random_source noise = {64};
	(void)state;
	int16_t query[96];
	for (size_t i = 0; i < ARRAY_LEN(query); i++)
		query[i] = (int16_t)(random_below(&noise, 8191) - 4095);
	int8_t rows[5 * 96];
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		rows[i] = (int8_t)(random_below(&noise, 255) - 127);
	int32_t products[5];
	simd_dot_rows(query, rows, 5, 96, products);
	for (size_t row = 0; row < 5; row++) {
		int32_t sum = 0;
		for (size_t i = 0; i < 96; i++)
			sum += query[i] * rows[row * 96 + i];
		assert_int_equal(products[row], sum);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_become_orthonormal),
		cmocka_unit_test(test_dependent_columns_stay_finite),
		cmocka_unit_test(test_eigenvectors_solve_the_equation),
		cmocka_unit_test(test_inner_loops_match_plain_sums),
		cmocka_unit_test(test_products_with_byte_rows_match_plain_sums),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
