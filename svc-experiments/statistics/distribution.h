/** svc-experiments/statistics/: whether an experiment worked. Pure computation: no database, no
 * JSON, nothing that waits, so every function may run on any thread.
 *
 *     distribution.c  probabilities and quantiles
 *     testing.c       how a difference is tested: once, or again and again
 *     sample.c        what is known of one arm, from sums that others have added up
 *     comparison.c    two arms: difference, relative difference, interval, p
 *     proportion.c    the same for proportions, by score intervals
 *     paired.c        the same for evaluations that share examples
 *     suite.c         the same for a suite of tasks, by bootstrap
 *     multiplicity.c  several tests at once
 *     allocation.c    whether units were assigned as planned
 *     sample_size.c   how many units are needed
 *     verdict.c       the word that an experiment gets
 *
 * In the formulas c is the control, t the treatment, D = m_t - m_c the effect. A number that is not
 * defined is NaN everywhere; infinity is a bound that does not exist.
 *
 * This header: probabilities and quantiles in double precision, to a relative error of 1e-10. */
#pragma once

/** P(|Z| > |z|) of the standard normal distribution. */
double normal_p(double z);

/** z with P(Z <= z) = p; 0 < p < 1. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37
 * (1988). */
double normal_quantile(double p);

/** P(|T| > |t|) of Student's distribution; degrees > 0, infinity is the normal distribution. Up to
 * 10,000 degrees by the incomplete beta function (continued fraction DLMF 8.17.22, evaluated by the
 * modified algorithm of Lentz), above by Hill's expansion (Algorithm 395, Communications of the ACM
 * 13 (1970)), whose error falls with the cube of the degrees. */
double student_p(double t, double degrees);

/** t with P(|T| > t) = alpha; 0 < alpha < 1, degrees >= 1. Newton's method within a bracket. */
double student_critical(double alpha, double degrees);

/** P(X > x) of the chi square distribution with whole degrees >= 1. By recurrence from erfc() or
 * exp() (DLMF 8.8.2). */
double chi_square_p(double x, int degrees);
