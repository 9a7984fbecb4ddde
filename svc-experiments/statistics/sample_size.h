/** How many units an experiment needs. With z_q and z_p the normal quantiles at 1 - alpha / 2 and
 * at the power, of each arm:
 *
 *     means         n = (z_q + z_p)^2 (v_c + v_t) / delta^2
 *     proportions   n = ((z_q sqrt(2 p (1 - p)) + z_p sqrt(p_c (1 - p_c) + p_t (1 - p_t))) / delta)^2,
 *                   p = (p_c + p_t) / 2
 *     pairs         n = (z_q + z_p)^2 var(d) / delta^2
 *     sequential    the least n with half width + z_p se <= delta (testing.h) */
#pragma once

#include "statistics/comparison.h"

/** Larger answers are infinity: they are no plan. */
#define SAMPLE_SIZE_MAX 1e15

/** Units per arm of two arms, or pairs, to find an effect of `delta`. `variance`: v_c + v_t, or
 * var(d). Whole; infinity above SAMPLE_SIZE_MAX. */
double sample_size_of_means(double delta, double variance, double power, const struct testing *how);

/** The same for proportions `p_c` and `p_t` between 0 and 1. */
double sample_size_of_proportions(double p_c, double p_t, double power, const struct testing *how);

/** The smallest effect that a comparison as it is would have found with this power: (critical +
 * z_p) se. NaN: it has no variance. */
double minimum_detectable(const struct comparison *comparison, double power);

/** How many units there must be, all arms that are compared together, for the comparison to find an
 * effect of `delta`, when the spread stays; `units` it has now. NaN: it has no variance or `delta`
 * is 0. */
double needed_units(const struct comparison *comparison, double units, double delta, double power,
                    const struct testing *how);
