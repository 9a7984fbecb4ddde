/** How a difference is tested, once for all metrics of an analysis.
 *
 * `fixed`: looked at once, when all data are there. Student's distribution, or the normal one for
 * scores.
 *
 * `sequential`: looked at as often as one likes. An asymptotic confidence sequence (Waudby-Smith,
 * Arbour, Sinha, Kennedy and Ramdas, arXiv 2103.06476v7, in the form of GrowthBook's gbstats),
 * which covers the truth at all looks at once with probability 1 - alpha. With N the units of both
 * arms and z = D / se:
 *
 *     rho^2      = (-2 ln alpha + ln(1 - 2 ln alpha)) / N0         narrowest at N0 units
 *     half width = se sqrt(2 (N rho^2 + 1) ln(sqrt(N rho^2 + 1) / alpha) / (N rho^2))
 *     p          = min(1, sqrt(N rho^2 + 1) exp(-rho^2 N z^2 / (2 (N rho^2 + 1))))
 *
 * Half width and p agree: p <= alpha if and only if |z| is at least the critical value. */
#pragma once

#include <stdbool.h>

struct testing {
	double alpha; /* two-sided, 0 < alpha < 1 */
	bool is_sequential;
	double tuned_units; /* sequential: N0, > 0 */
};

/** rho of a sequential test. */
double testing_rho(const struct testing *how);

/** The half width of the interval in standard errors. `units` of both arms (sequential; > 0),
 * `degrees` of freedom (fixed; infinity: normal). */
double testing_critical(const struct testing *how, double units, double degrees);

/** p of an effect that is `z` standard errors from 0. */
double testing_p(const struct testing *how, double z, double units, double degrees);
