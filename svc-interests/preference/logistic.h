/** Regularised logistic regression over sparse rows, and what is done with its scores.
 *
 * Finds w and b that minimise
 *
 *     1/2 |w|^2 + 1/2 b^2 + sum over rows of weight * ln(1 + exp(-label * (w.x + b)))
 *
 * by Nesterov's accelerated gradient with a constant step for strongly convex functions
 * (Introductory Lectures on Convex Optimization, 2004, scheme 2.2.11). No chance is involved: the
 * same rows give the same numbers.
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/** A number of a row. */
struct cell {
	uint32_t column;
	float value;
};

/** Row `i` is cells[starts[i]] up to cells[starts[i + 1]]; no row is longer than 1 (as a
 * vector). */
struct matrix {
	const struct cell *cells;
	const size_t *starts; /* row_count + 1 of them */
	size_t row_count;
	size_t column_count;
};

/** A weight per column, and the constant. */
struct linear {
	double *weights;
	double bias;
};

/** Product of a row with the weights, without the bias. */
double matrix_row_dot(const struct matrix *matrix, size_t row, const double *weights);

/** Add `factor` times a row to `sum`. */
void matrix_row_add(const struct matrix *matrix, size_t row, double factor, double *sum);

/** Fit. `labels` are +1 or -1, `row_weights` >= 0; a row of weight 0 takes no part. In `arena`. */
struct linear logistic_fit(struct arena *arena, const struct matrix *matrix, const double *labels,
                           const double *row_weights);

/** A straight line under a logistic: a score becomes 1 / (1 + exp(-(slope * score + offset))). */
struct calibration {
	double slope; /* > 0 */
	double offset;
};

/** Fit slope and offset to scores whose labels are known (Platt, "Probabilistic outputs for support
 * vector machines", 1999, his corrected targets included), both classes counting the same. Scores
 * that do not tell the classes apart give a flat line through 0.5. */
struct calibration calibration_fit(const double *scores, const double *labels, size_t count);

/** A score brought to 0..1; NaN becomes 0. */
double calibration_apply(const struct calibration *calibration, double score);

/** Area under the ROC curve: the chance that a row of label +1 scores above one of -1, ties
 * counting half. NaN when a class is missing. */
double auc(const double *scores, const double *labels, size_t count);
