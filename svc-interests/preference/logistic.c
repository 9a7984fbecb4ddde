#include "preference/logistic.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIT_MAX_STEPS = 500,
	POWER_STEPS = 20, /* of the power iteration in curvature() */
	PLATT_MAX_STEPS = 50,
};

/* The fit has converged when the length of the gradient is this part of its initial length. */
#define FIT_TOLERANCE 1e-5

/* Below this slope the scores carry no information about the labels. */
#define SLOPE_MIN 1e-3

double matrix_row_dot(const struct matrix *matrix, size_t row, const double *weights)
{
	double sum = 0;
	for (size_t i = matrix->starts[row]; i < matrix->starts[row + 1]; i++)
		sum += weights[matrix->cells[i].column] * matrix->cells[i].value;
	return sum;
}

void matrix_row_add(const struct matrix *matrix, size_t row, double factor, double *sum)
{
	for (size_t i = matrix->starts[row]; i < matrix->starts[row + 1]; i++)
		sum[matrix->cells[i].column] += factor * matrix->cells[i].value;
}

static double sigmoid(double x)
{
	return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* Scale to length 1. Returns the original length. */
static double normalise(double *vector, size_t count)
{
	double squares = 0;
	for (size_t i = 0; i < count; i++)
		squares += vector[i] * vector[i];
	double length = sqrt(squares);
	for (size_t i = 0; length > 0 && i < count; i++)
		vector[i] /= length;
	return length;
}

/* State of one fit. The last element of each vector is for the bias. */
struct fit {
	const struct matrix *matrix;
	const double *labels;
	const double *row_weights;
	size_t size; /* columns and the bias */
	double *gradient;
};

/* Upper bound of the largest eigenvalue of sum weight * x x', where x has a 1 for the bias. A
 * quarter of it bounds the second derivative of the loss. Power iteration approaches the eigenvalue
 * from below, so a tenth is added. */
static double curvature(const struct fit *fit, double *vector)
{
	double largest = 0;
	for (size_t i = 0; i < fit->size; i++)
		vector[i] = 1;
	for (int step = 0; step < POWER_STEPS; step++) {
		normalise(vector, fit->size);
		memset(fit->gradient, 0, fit->size * sizeof(double));
		for (size_t row = 0; row < fit->matrix->row_count; row++) {
			if (fit->row_weights[row] == 0)
				continue;
			double dot = matrix_row_dot(fit->matrix, row, vector);
			double factor = fit->row_weights[row] * (dot + vector[fit->size - 1]);
			matrix_row_add(fit->matrix, row, factor, fit->gradient);
			fit->gradient[fit->size - 1] += factor;
		}
		memcpy(vector, fit->gradient, fit->size * sizeof(double));
		largest = normalise(vector, fit->size);
	}
	return 1.1 * largest;
}

/* Compute the gradient at `at` into fit->gradient. Returns its length. */
static double gradient_at(const struct fit *fit, const double *at)
{
	size_t bias = fit->size - 1;
	memcpy(fit->gradient, at, fit->size * sizeof(double));
	for (size_t row = 0; row < fit->matrix->row_count; row++) {
		if (fit->row_weights[row] == 0)
			continue;
		double label = fit->labels[row];
		double margin = label * (matrix_row_dot(fit->matrix, row, at) + at[bias]);
		double factor = -label * fit->row_weights[row] * sigmoid(-margin);
		matrix_row_add(fit->matrix, row, factor, fit->gradient);
		fit->gradient[bias] += factor;
	}
	double squares = 0;
	for (size_t i = 0; i < fit->size; i++)
		squares += fit->gradient[i] * fit->gradient[i];
	return sqrt(squares);
}

/* Descend from 0 to the minimum, in `at`. `ahead` is scratch space for the look-ahead points. */
static void descend(const struct fit *fit, double *at, double *ahead)
{
	/* Lipschitz constant of the gradient; the regularisation adds 1. */
	double lipschitz = 1 + curvature(fit, ahead) / 4;
	double momentum = (sqrt(lipschitz) - 1) / (sqrt(lipschitz) + 1);
	memset(ahead, 0, fit->size * sizeof(double));
	double first = 0;
	for (int step = 0; step < FIT_MAX_STEPS; step++) {
		double length = gradient_at(fit, ahead);
		first = step == 0 ? length : first;
		if (length <= FIT_TOLERANCE * first)
			break;
		for (size_t i = 0; i < fit->size; i++) {
			double next = ahead[i] - fit->gradient[i] / lipschitz;
			ahead[i] = next + momentum * (next - at[i]);
			at[i] = next;
		}
	}
}

struct linear logistic_fit(struct arena *arena, const struct matrix *matrix, const double *labels,
                           const double *row_weights)
{
	struct arena *scratch = arena_new();
	size_t size = matrix->column_count + 1;
	struct fit fit = {matrix, labels, row_weights, size,
	                  arena_array(scratch, size, sizeof(double))};
	double *at = arena_array(arena, size, sizeof(double));
	descend(&fit, at, arena_array(scratch, size, sizeof(double)));
	arena_free(scratch);
	return (struct linear){at, at[size - 1]};
}

double logistic_coefficient(const struct matrix *matrix, size_t row, double label,
                            double row_weight, const struct linear *fitted)
{
	double margin = label * (matrix_row_dot(matrix, row, fitted->weights) + fitted->bias);
	return label * row_weight * sigmoid(-margin);
}

/* Derivatives for one Newton step of Platt's fit. */
struct platt {
	double gradient[2]; /* d/slope, d/offset */
	double hessian[3];  /* slope-slope, slope-offset, offset-offset */
};

static struct platt platt_sums(const struct calibration *at, const double *scores,
                               const double *labels, size_t count, const double positives)
{
	struct platt sums = {{0}, {1e-6, 0, 1e-6}};
	double negatives = (double)count - positives;
	for (size_t i = 0; i < count; i++) {
		bool is_positive = labels[i] > 0;
		double target =
			is_positive ? (positives + 1) / (positives + 2) : 1 / (negatives + 2);
		double weight = 1 / (is_positive ? positives : negatives);
		double p = sigmoid(at->slope * scores[i] + at->offset);
		double residual = weight * (p - target), variance = weight * p * (1 - p);
		sums.gradient[0] += residual * scores[i];
		sums.gradient[1] += residual;
		sums.hessian[0] += variance * scores[i] * scores[i];
		sums.hessian[1] += variance * scores[i];
		sums.hessian[2] += variance;
	}
	return sums;
}

/* Do one Newton step. Returns its length. */
static double platt_step(struct calibration *at, const struct platt *sums)
{
	const double *h = sums->hessian, *g = sums->gradient;
	double determinant = h[0] * h[2] - h[1] * h[1];
	double slope = (h[2] * g[0] - h[1] * g[1]) / determinant;
	double offset = (h[0] * g[1] - h[1] * g[0]) / determinant;
	at->slope -= slope;
	at->offset -= offset;
	return fabs(slope) + fabs(offset);
}

static size_t count_positives(const double *labels, size_t count)
{
	size_t positives = 0;
	for (size_t i = 0; i < count; i++)
		positives += labels[i] > 0;
	return positives;
}

/* Mean and standard deviation of the scores: Newton converges better on standardized numbers. */
static void moments(const double *scores, size_t count, double *ret_mean, double *ret_spread)
{
	double mean = 0, squares = 0;
	for (size_t i = 0; i < count; i++)
		mean += scores[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (scores[i] - mean) * (scores[i] - mean) / (double)count;
	*ret_mean = mean;
	*ret_spread = sqrt(squares);
}

struct calibration calibration_fit(const double *scores, const double *labels, size_t count)
{
	const struct calibration flat = {SLOPE_MIN, 0};
	size_t positives = count_positives(labels, count);
	double mean, spread;
	moments(scores, count, &mean, &spread);
	if (positives == 0 || positives == count || !(spread > 1e-12))
		return flat;

	struct arena *scratch = arena_new();
	double *standard = arena_array(scratch, count, sizeof(double));
	for (size_t i = 0; i < count; i++)
		standard[i] = (scores[i] - mean) / spread;
	struct calibration fitted = {0};
	for (int step = 0; step < PLATT_MAX_STEPS; step++) {
		struct platt sums = platt_sums(&fitted, standard, labels, count, (double)positives);
		if (platt_step(&fitted, &sums) < 1e-9)
			break;
	}
	arena_free(scratch);
	if (!isfinite(fitted.slope) || !isfinite(fitted.offset) || fitted.slope < SLOPE_MIN)
		return flat;
	double slope = fitted.slope / spread;
	return (struct calibration){slope, fitted.offset - slope * mean};
}

double calibration_apply(const struct calibration *calibration, double score)
{
	double p = sigmoid(calibration->slope * score + calibration->offset);
	return isnan(p) ? 0 : p;
}

struct scored_label {
	double score;
	double label;
};

static int rising_score(const void *a, const void *b)
{
	double left = ((const struct scored_label *)a)->score;
	double right = ((const struct scored_label *)b)->score;
	return (left > right) - (left < right);
}

/* From ranks, as the Mann-Whitney U: equal scores have the mean of their ranks. */
double auc(const double *scores, const double *labels, size_t count)
{
	double positives = (double)count_positives(labels, count);
	double negatives = (double)count - positives;
	if (positives == 0 || negatives == 0)
		return NAN;
	struct arena *scratch = arena_new();
	struct scored_label *rows = arena_array(scratch, count, sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct scored_label){scores[i], labels[i]};
	qsort(rows, count, sizeof(*rows), rising_score);
	double rank_sum = 0;
	for (size_t start = 0, end; start < count; start = end) {
		for (end = start + 1; end < count && rows[end].score == rows[start].score; end++)
			continue;
		double rank = (double)(start + end + 1) / 2;
		for (size_t i = start; i < end; i++)
			rank_sum += rows[i].label > 0 ? rank : 0;
	}
	arena_free(scratch);
	return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}
