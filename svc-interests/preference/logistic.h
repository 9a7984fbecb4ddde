/** Regularised logistic regression over sparse rows, calibration of its scores, and AUC.
 *
 * logistic_fit() finds the w and b that minimise
 *
 *     1/2 |w|^2 + 1/2 b^2 + sum over rows of weight * ln(1 + exp(-label * (w.x + b)))
 *
 * by Nesterov's accelerated gradient with a constant step for strongly convex functions
 * (Introductory Lectures on Convex Optimization, 2004, scheme 2.2.11). The
 * result is deterministic.
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/** A non-zero number of a row. */
struct cell {
	uint32_t column;
	float value;
};

/** Row `i` is cells[starts[i]] up to, not including, cells[starts[i + 1]]. The length of a row, as
 * a vector, is at most 1. */
struct matrix {
	const struct cell *cells;
	const size_t *starts; /* row_count + 1 elements */
	size_t row_count;
	size_t column_count;
};

/** A linear function: a weight for each column, and a bias. */
struct linear {
	double *weights;
	double bias;
};

/** Dot product of a row with the weights, without the bias. */
double matrix_row_dot(const struct matrix *matrix, size_t row, const double *weights);

/** Add `factor` times a row to `sum`. */
void matrix_row_add(const struct matrix *matrix, size_t row, double factor, double *sum);

/** Fit. `labels` are +1 or -1, `row_weights` >= 0; a row of weight 0 is ignored. In `arena`. */
struct linear logistic_fit(struct arena *arena, const struct matrix *matrix, const double *labels,
                           const double *row_weights);

/** The factor of a row in the weights that logistic_fit() found: at the minimum the weights are the
 * sum of the rows times these, up to the tolerance of the fit. */
double logistic_coefficient(const struct matrix *matrix, size_t row, double label,
                            double row_weight, const struct linear *fitted);

/** Maps a raw score to 1 / (1 + exp(-(slope * score + offset))). */
struct calibration {
	double slope; /* > 0 */
	double offset;
};

/** Fit slope and offset to scores with known labels (Platt, "Probabilistic outputs for support
 * vector machines", 1999, with his corrected targets). Both classes have the same weight. Scores
 * that do not separate the classes give a flat line through 0.5. */
struct calibration calibration_fit(const double *scores, const double *labels, size_t count);

/** The calibrated score, 0..1; NaN gives 0. */
double calibration_apply(const struct calibration *calibration, double score);

/** Area under the ROC curve: the probability that a row of label +1 scores above a row of label -1;
 * ties count half. NaN when a class is missing. */
double auc(const double *scores, const double *labels, size_t count);
