/** Proportions of independent arms, and of one arm.
 *
 * The intervals are score intervals, which hold where successes are few or all, and where those by
 * the normal approximation do not: for one arm that of Wilson (Journal of the American Statistical
 * Association 22, 1927), for two that of Miettinen and Nurminen (Statistics in Medicine 4, 1985).
 * For a difference of `d`, or a ratio of `r`, the likelihood is maximised under p_t = p_c + d, or
 * p_t = r p_c, and
 *
 *     z = (p_t^ - p_c^ - d) / sqrt((p_t~ (1 - p_t~) / n_t + p_c~ (1 - p_c~) / n_c) N / (N - 1))
 *
 * where ^ are the observed and ~ the fitted proportions. The interval has every d with |z| <= q,
 * and p is that of z at equality. Likelihoods with such a constraint have one maximum, which is
 * found by bisection of their derivative: the closed form, a cubic, has two nearly equal roots
 * where events are rare, and loses half of the digits there. */
#pragma once

#include "statistics/comparison.h"

struct proportion {
	double n, successes; /* whole numbers, 0 <= successes <= n, n >= 1 */
};

/** Wilson's interval of one arm. */
void proportion_interval(const struct proportion *one, double alpha, double *ret_low,
                         double *ret_high);

/** Compare two arms. `fixed`: score intervals, the relative effect from that of the ratio.
 * `sequential`: the confidence sequence (testing.h) with the variance p (1 - p) of each arm. The
 * relative effect is NaN without a success in the control. `se` is sqrt of the sum of p (1 - p) / n
 * in both. */
struct comparison proportions_compare(const struct proportion *control,
                                      const struct proportion *treatment,
                                      const struct testing *how);
