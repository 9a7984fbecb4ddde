#include "engine/vector/linalg.h"

#include "engine/text/mem.h"
#include "engine/vector/simd.h"

#include <math.h>

/* Added to the diagonal of the Gram matrix, as a fraction of its greatest element, so that the
 * Cholesky factor exists. */
#define RIDGE 1e-7

/* Rows whose products are summed as floats before the sum is added to doubles. */
#define GRAM_ROWS 64

/* Maximum sweeps of Jacobi rotations. Convergence is quadratic and takes well under ten. */
#define MAX_SWEEPS 30

/* Add the lower half of matrix' x matrix to `out`. */
static void gram(const float *matrix, size_t rows, size_t columns, double *out)
{
	mem_auto_free float *part = mem_array(columns * columns, sizeof(float));
	for (size_t first = 0; first < rows; first += GRAM_ROWS) {
		size_t last = MIN_OF(first + GRAM_ROWS, rows);
		memset(part, 0, columns * columns * sizeof(float));
		for (size_t row = first; row < last; row++) {
			const float *values = matrix + row * columns;
			for (size_t i = 0; i < columns; i++)
				simd_add_scaled(part + i * columns, values[i], values, i + 1);
		}
		for (size_t i = 0; i < columns; i++)
			for (size_t j = 0; j <= i; j++)
				out[i * columns + j] += part[i * columns + j];
	}
}

/* Replace the lower half by its Cholesky factor. */
static void cholesky(double *matrix, size_t n)
{
	double greatest = 0;
	for (size_t i = 0; i < n; i++)
		greatest = MAX_OF(greatest, matrix[i * n + i]);
	greatest = greatest > 0 ? greatest : 1;
	for (size_t i = 0; i < n; i++) {
		matrix[i * n + i] += RIDGE * greatest;
		for (size_t j = 0; j <= i; j++) {
			double sum = matrix[i * n + j];
			for (size_t k = 0; k < j; k++)
				sum -= matrix[i * n + k] * matrix[j * n + k];
			if (i == j)
				matrix[i * n + i] = sqrt(MAX_OF(sum, RIDGE * greatest));
			else
				matrix[i * n + j] = sum / matrix[j * n + j];
		}
	}
}

/* Solve x L' = row in place by forward substitution. */
static void solve_row(const float *lower, size_t n, float *row)
{
	for (size_t i = 0; i < n; i++) {
		float sum = row[i] - simd_dot(lower + i * n, row, i);
		row[i] = sum / lower[i * n + i];
	}
}

void linalg_orthonormalise(float *matrix, size_t rows, size_t columns)
{
	mem_auto_free double *products = mem_array(columns * columns, sizeof(double));
	mem_auto_free float *lower = mem_array(columns * columns, sizeof(float));
	gram(matrix, rows, columns, products);
	cholesky(products, columns);
	for (size_t i = 0; i < columns * columns; i++)
		lower[i] = (float)products[i];
	for (size_t row = 0; row < rows; row++)
		solve_row(lower, columns, matrix + row * columns);
}

static double off_diagonal(const double *matrix, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			sum += matrix[i * n + j] * matrix[i * n + j];
	return sum;
}

static void rotate_rows(double *a, double *b, size_t n, double c, double s)
{
	for (size_t k = 0; k < n; k++) {
		double left = a[k];
		double right = b[k];
		a[k] = c * left - s * right;
		b[k] = s * left + c * right;
	}
}

/* Make the element (p, q) zero by a Jacobi rotation. */
static void rotate(double *matrix, double *vectors, size_t n, size_t p, size_t q)
{
	double element = matrix[p * n + q];
	if (fabs(element) < 1e-300)
		return;
	double theta = (matrix[q * n + q] - matrix[p * n + p]) / (2 * element);
	double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
	double c = 1 / sqrt(t * t + 1);
	rotate_rows(matrix + p * n, matrix + q * n, n, c, t * c);
	for (size_t k = 0; k < n; k++) {
		double left = matrix[k * n + p];
		double right = matrix[k * n + q];
		matrix[k * n + p] = c * left - t * c * right;
		matrix[k * n + q] = t * c * left + c * right;
	}
	rotate_rows(vectors + p * n, vectors + q * n, n, c, t * c);
}

static void sort_descending(double *values, double *vectors, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t best = i;
		double kept = values[i];
		for (size_t j = i + 1; j < n; j++)
			if (values[j] > values[best])
				best = j;
		values[i] = values[best];
		values[best] = kept;
		for (size_t k = 0; k < n && best != i; k++) {
			kept = vectors[i * n + k];
			vectors[i * n + k] = vectors[best * n + k];
			vectors[best * n + k] = kept;
		}
	}
}

void linalg_eigen(double *matrix, size_t n, double *values, double *vectors)
{
	double trace = 0;
	for (size_t i = 0; i < n; i++) {
		trace += fabs(matrix[i * n + i]);
		for (size_t j = 0; j < n; j++)
			vectors[i * n + j] = i == j;
	}
	for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
		if (off_diagonal(matrix, n) <= 1e-20 * trace * trace)
			break;
		for (size_t p = 0; p + 1 < n; p++)
			for (size_t q = p + 1; q < n; q++)
				rotate(matrix, vectors, n, p, q);
	}
	for (size_t i = 0; i < n; i++)
		values[i] = matrix[i * n + i];
	sort_descending(values, vectors, n);
}
