/** Two arms of one metric: the effect, its interval and p, and the relative effect by the same
 * test.
 *
 * One test decides everything. The relative interval inverts it (Fieller, Journal of the Royal
 * Statistical Society B 16, 1954), so that the two intervals exclude 0 together:
 *
 *     all r with (D - r m_c)^2 <= q^2 (var D - 2 r cov(D, m_c) + r^2 var m_c),   r = D / |m_c|
 *
 * It is unbounded when m_c is not q standard errors from 0. */
#pragma once

#include "statistics/sample.h"
#include "statistics/testing.h"

/** NaN: not defined. Bounds that do not exist are NaN as well. */
struct comparison {
	double effect, low, high, p;
	double relative, relative_low, relative_high;
	double se;       /* of the effect; 0 or NaN: there is no test */
	double critical; /* half width / se; of a score interval: the normal quantile */
	double degrees;  /* of freedom; infinity: normal */
};

/** No comparison: every number is NaN. */
extern const struct comparison COMPARISON_NONE;

/** The effects of two means without a test, of which too little is known. */
struct comparison comparison_untested(double control, double treatment);

/** An effect with what is needed to test it. */
struct difference {
	double effect, variance; /* of the effect, not of a unit */
	double degrees;          /* infinity: normal */
	double units;            /* of both arms, for sequential tests */
	double baseline;         /* mean of the control */
	double baseline_variance;
	double covariance; /* of effect and baseline; independent arms: -baseline_variance */
};

/** Test a difference. Without variance only the effects are set. */
struct comparison difference_test(const struct difference *difference, const struct testing *how);

/** Means or ratios of independent arms: Welch's test, with Satterthwaite's degrees
 * se^4 / (v_c^2 / (n_c^2 (n_c - 1)) + v_t^2 / (n_t^2 (n_t - 1))). Each n >= 2. */
struct comparison samples_compare(const struct sample *control, const struct sample *treatment,
                                  const struct testing *how);

/** The same with a pre-period (samples_adjust()); relative to the mean that is not adjusted.
 * `ret_theta` as samples_adjust() returns it. */
struct comparison samples_compare_adjusted(const struct sample *control,
                                           const struct pre_period *control_pre,
                                           const struct sample *treatment,
                                           const struct pre_period *treatment_pre,
                                           const struct testing *how, double *ret_theta);

/** A quantile of one arm: its value, and the order statistics at level -+ 1.96 standard errors. */
struct quantile {
	double n, value, lower, upper;
};

/** Whether n is enough for the order statistics of the quantile `level`: n > 3.8415 tau / (1 - tau)
 * and n > 3.8415 (1 - tau) / tau, as gbstats has it. */
bool quantile_is_enough(double n, double level);

/** Quantiles of independent arms: se = (upper - lower) / (2 z_.975) of each arm, normal. */
struct comparison quantiles_compare(const struct quantile *control,
                                    const struct quantile *treatment, const struct testing *how);

/** One arm by itself: mean -+ t se. NaN when n < 2. */
void sample_interval(const struct sample *sample, double alpha, double *ret_low, double *ret_high);
