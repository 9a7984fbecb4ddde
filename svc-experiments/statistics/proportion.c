#include "statistics/proportion.h"

#include "statistics/distribution.h"

#include <math.h>

/* Halvings of an interval of doubles until its ends are neighbours. */
#define HALVINGS 100

/* The constraint p_t = add + times p_c. */
struct constraint {
	double add, times;
};

void proportion_interval(const struct proportion *one, double alpha, double *ret_low,
                         double *ret_high)
{
	double z = -normal_quantile(alpha / 2), square = z * z, n = one->n, x = one->successes;
	double centre = x + square / 2;
	double root = z * sqrt(x * ((n - x) / n) + square / 4);
	double failures = n - x + square / 2;
	/* (centre - root) / (n + square), without its cancellation */
	*ret_low = x * x / n / (centre + root);
	*ret_high = 1 - (n - x) * (n - x) / n / (failures + root);
}

/* A term of the derivative of a likelihood; an event that did not happen adds nothing at 0. */
static double slope(double events, double p)
{
	return events > 0 ? events / p : 0;
}

/* The derivative of the likelihood by p_c, which falls as p_c rises. */
static double likelihood_slope(const struct proportion *c, const struct proportion *t,
                               struct constraint at, double p)
{
	double other = at.add + at.times * p;
	return slope(c->successes, p) - slope(c->n - c->successes, 1 - p) +
	       at.times * (slope(t->successes, other) - slope(t->n - t->successes, 1 - other));
}

/* p_c~: the most likely proportion of the control under the constraint. */
static double fitted_control(const struct proportion *c, const struct proportion *t,
                             struct constraint at)
{
	double low = fmax(0, -at.add / at.times), high = fmin(1, (1 - at.add) / at.times);
	for (int i = 0; i < HALVINGS && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			break;
		*(likelihood_slope(c, t, at, middle) > 0 ? &low : &high) = middle;
	}
	return low + (high - low) / 2;
}

static double spread(double p)
{
	return p > 0 && p < 1 ? p * (1 - p) : 0;
}

/* The score z under the constraint; it falls as `add` or `times` rises. */
static double score(const struct proportion *c, const struct proportion *t, struct constraint at)
{
	double gap = t->successes / t->n - (at.add + at.times * (c->successes / c->n));
	double p = fitted_control(c, t, at), units = c->n + t->n;
	double variance =
		spread(at.add + at.times * p) / t->n + at.times * at.times * spread(p) / c->n;
	if (gap == 0)
		return 0;
	return gap / sqrt(variance * (units / (units - 1)));
}

static struct constraint difference_of(double d)
{
	return (struct constraint){d, 1};
}

static struct constraint ratio_of(double r)
{
	return (struct constraint){0, r};
}

/* Where the score passes `z` between `low` and `high`. */
static double bound(const struct proportion *c, const struct proportion *t,
                    struct constraint (*of)(double), double z, double low, double high)
{
	for (int i = 0; i < HALVINGS; i++) {
		double middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			break;
		*(score(c, t, of(middle)) > z ? &low : &high) = middle;
	}
	return low + (high - low) / 2;
}

static struct proportion failures_of(const struct proportion *p)
{
	return (struct proportion){p->n, p->n - p->successes};
}

/* Of the failures where they are fewer: 1 - p has the more digits the smaller it is. */
static void compare_difference(const struct proportion *c, const struct proportion *t,
                               struct comparison *result)
{
	double q = result->critical, effect = result->effect;
	struct proportion c_failed = failures_of(c), t_failed = failures_of(t);
	if (c->successes + t->successes <= c_failed.successes + t_failed.successes) {
		result->low = bound(c, t, difference_of, q, -1, effect);
		result->high = bound(c, t, difference_of, -q, effect, 1);
		result->p = normal_p(score(c, t, difference_of(0)));
	} else {
		result->low = -bound(&c_failed, &t_failed, difference_of, -q, -effect, 1);
		result->high = -bound(&c_failed, &t_failed, difference_of, q, -1, -effect);
		result->p = normal_p(score(&c_failed, &t_failed, difference_of(0)));
	}
}

/* The ratio has no upper end to begin with: double it until the score has passed. */
static void compare_ratio(const struct proportion *c, const struct proportion *t,
                          struct comparison *result)
{
	double q = result->critical, ratio = 1 + result->relative, high = fmax(2 * ratio, 1);
	while (score(c, t, ratio_of(high)) > -q && high < 1e300)
		high *= 2;
	result->relative_low = bound(c, t, ratio_of, q, 0, ratio) - 1;
	result->relative_high = high < 1e300 ? bound(c, t, ratio_of, -q, ratio, high) - 1 : NAN;
}

static struct comparison compare_scores(const struct proportion *c, const struct proportion *t,
                                        const struct testing *how)
{
	double p_c = c->successes / c->n, p_t = t->successes / t->n;
	struct comparison result = {
		.effect = p_t - p_c,
		.relative = NAN,
		.relative_low = NAN,
		.relative_high = NAN,
		.se = sqrt(spread(p_c) / c->n + spread(p_t) / t->n),
		.degrees = INFINITY,
		.critical = -normal_quantile(how->alpha / 2),
	};
	compare_difference(c, t, &result);
	if (c->successes > 0) {
		result.relative = result.effect / p_c;
		compare_ratio(c, t, &result);
	}
	return result;
}

struct comparison proportions_compare(const struct proportion *c, const struct proportion *t,
                                      const struct testing *how)
{
	if (!how->is_sequential)
		return compare_scores(c, t, how);
	struct sample control = sample_of_counts(c->n, c->successes);
	struct sample treatment = sample_of_counts(t->n, t->successes);
	return samples_compare(&control, &treatment, how);
}
