/** Evaluations whose arms were given the same examples: differences are taken example by example,
 * so that what makes an example hard or easy falls out.
 *
 * Results of 0 or 1: the mid-p variant of McNemar's test (Fagerland, Lydersen and Laake, BMC
 * Medical Research Methodology 13, 2013), and Tango's score interval (Statistics in Medicine 17,
 * 1998). With b examples right in the treatment only, a in the control only, of n, and difference
 * d:
 *
 *     z(d) = (b - a - n d) / sqrt(n (2 q~ + d (1 - d)))
 *     q~   = (sqrt(B^2 - 8 n C) - B) / (4 n),  B = (2 n - b + a) d - b - a,  C = -a d (1 - d)
 *
 * Other results: Student's t of the differences with standard errors by cluster (arXiv 2411.00640,
 * with the correction G / (G - 1) of Inspect), since examples of one group, such as questions on
 * one text, are right or wrong together:
 *
 *     se^2 = G / (G - 1) sum over g of (sum in g of (d_e - mean d))^2 / n^2,   G - 1 degrees */
#pragma once

#include "statistics/comparison.h"

#include <stddef.h>

/** Examples with a result of 0 or 1 in both arms, counted. */
struct discordance {
	double n;         /* examples, >= 1 */
	double treatment; /* right in the treatment only */
	double control;   /* right in the control only */
	double both;      /* right in both */
};

/** Compare them, once (`alpha`). The relative interval is Fieller's with the variances and the
 * covariance of the pairs: a score interval of a ratio of pairs is not needed beside Tango's. Where
 * the pairs all agree, or all differ in one direction, there is no variance, and it is Tango's
 * divided by the baseline. */
struct comparison discordance_compare(const struct discordance *pairs, const struct testing *how);

/** An example in both arms. */
struct example_pair {
	double control, treatment;
	size_t cluster; /* 0 to cluster_count - 1 */
};

/** Compare examples by cluster; `sums` is room for 3 cluster_count numbers. Fewer than two
 * clusters, or differences that differ by no more than the rounding of their values: only the
 * effects are set. */
struct comparison pairs_compare(const struct example_pair *pairs, size_t count,
                                size_t cluster_count, double *sums, const struct testing *how);

/** The probability that one of k samples is right, when c of n are: 1 - C(n - c, k) / C(n, k), as a
 * product (Chen et al., "Evaluating large language models trained on code", 2021). k <= n. */
double pass_at_k(size_t n, size_t c, size_t k);
