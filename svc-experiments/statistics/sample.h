/** What is known of one arm: how many units, their mean and variance, from the sums that an
 * experiment platform keeps. Sums of squares lose digits when the mean is large beside the spread,
 * so the difference of the two is made with a fused product, and what has too few digits left is
 * refused rather than answered. */
#pragma once

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

/** What rounding may leave of a difference of 0 between values, as a share of the largest one. */
#define VALUE_ROUNDING (8 * DBL_EPSILON)

/** An arm of a metric. `variance` is that of one unit, with n - 1; NaN when n < 2. */
struct sample {
	double n, mean, variance;
};

/** The sums of the values x of n units. */
struct sums {
	double n, sum, sum_squares;
};

/** Sums of a ratio: of the numerators, the denominators, and of both multiplied. */
struct ratio_sums {
	double n, sum, sum_squares, denominator_sum, denominator_sum_squares, sum_products;
};

/** A value of each unit before the experiment, and its covariance with the metric. */
struct pre_period {
	double mean, variance, covariance;
};

/** Why sums are refused, as the rest of a sentence that begins with a field's name; NULL: they are
 * not. Static text. */
typedef const char *sums_fault;

/** The sample of a metric that is 0 or 1; 0 <= successes <= n. Its variance is p (1 - p). */
struct sample sample_of_counts(double n, double successes);

/** The sample of values. Its variance is 0 when they differ by no more than their rounding: what
 * 0.1 and (0.1 + 0.1 + 0.1) / 3 differ by is no variance. */
struct sample sample_of_values(const double *values, size_t count);

/** The variance (n - 1) of sums into `ret_variance`, NaN when n < 2. A fault: it is negative, or
 * less than 1e-10 of sum_squares / n, of which a double has too few digits; or more than 1e200. */
sums_fault sums_variance(const struct sums *sums, double *ret_variance);

/** As sums_variance(), but 0 where it has too few digits, as of values that are all equal. */
sums_fault sums_variance_or_none(const struct sums *sums, double *ret_variance);

/** The sample of sums; fails as sums_variance(). */
sums_fault sample_of_sums(const struct sums *sums, struct sample *ret);

/** The sample of a ratio of sums, by the delta method over units: R = sum / denominator_sum,
 * variance (v_M - 2 R cov + R^2 v_D) / m_D^2. One of the two may be the same of all units. A fault
 * also: the denominators add up to 0. */
sums_fault sample_of_ratio(const struct ratio_sums *sums, struct sample *ret);

/** The covariance (n - 1) of two values whose sums and sum of products are known. */
double sums_covariance(double n, double sum, double other_sum, double sum_products);

/** Both arms with what could be foretold taken out (CUPED: Deng, Xu, Kohavi and Walker, WSDM 2013):
 * mean - theta pre-mean, variance v + theta^2 v_pre - 2 theta cov, where theta = cov / v_pre of
 * both arms as one sample. Returns theta; NaN, and no change: no arm has a variance before. */
double samples_adjust(struct sample *control, const struct pre_period *control_pre,
                      struct sample *treatment, const struct pre_period *treatment_pre);
