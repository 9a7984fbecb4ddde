#include "statistics/comparison.h"

#include "statistics/distribution.h"

#include <math.h>

/* z of a two-sided 95 % interval: that of the order statistics which platforms send. */
#define Z_95 1.959963984540054

const struct comparison COMPARISON_NONE = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

struct comparison comparison_untested(double control, double treatment)
{
	struct comparison c = COMPARISON_NONE;
	c.effect = treatment - control;
	if (control != 0)
		c.relative = c.effect / fabs(control);
	return c;
}

/* The bounds of the relative effect, for a baseline of 1. The discriminant of the quadratic is
 * multiplied out: as a difference of squares it would lose the digits of small effects. */
static void fieller(const struct difference *d, double q, double *ret_low, double *ret_high)
{
	double square = q * q, a = 1 - square * d->baseline_variance;
	if (!(a > 0))
		return;
	double b = d->effect - square * d->covariance;
	double spread = d->variance - 2 * d->effect * d->covariance +
	                d->effect * d->effect * d->baseline_variance;
	double both = d->variance * d->baseline_variance - d->covariance * d->covariance;
	double root = q * sqrt(fmax(spread - square * both, 0));
	*ret_low = (b - root) / a;
	*ret_high = (b + root) / a;
}

/* In units of the baseline, of which very large and very small ones would have no squares. */
static void compare_relative(const struct difference *d, struct comparison *c)
{
	double unit = fabs(d->baseline), sign = d->baseline < 0 ? -1 : 1;
	if (unit == 0)
		return;
	struct difference scaled = {
		.effect = d->effect / unit,
		.variance = d->variance / unit / unit,
		.baseline_variance = d->baseline_variance / unit / unit,
		.covariance = sign * d->covariance / unit / unit,
	};
	c->relative = scaled.effect;
	if (scaled.variance > 0)
		fieller(&scaled, c->critical, &c->relative_low, &c->relative_high);
}

struct comparison difference_test(const struct difference *d, const struct testing *how)
{
	struct comparison c = COMPARISON_NONE;
	c.effect = d->effect;
	c.se = sqrt(d->variance);
	c.degrees = d->degrees;
	if (c.se > 0) {
		c.critical = testing_critical(how, d->units, d->degrees);
		c.low = d->effect - c.critical * c.se;
		c.high = d->effect + c.critical * c.se;
		c.p = testing_p(how, d->effect / c.se, d->units, d->degrees);
	}
	compare_relative(d, &c);
	return c;
}

/* Satterthwaite's degrees of freedom of a sum of two variances of means; they are scaled first,
 * since their squares may be too small for a double. */
static double welch_degrees(double v_c, double n_c, double v_t, double n_t)
{
	double sum = v_c + v_t, c = v_c / sum, t = v_t / sum;
	return 1 / (c * c / (n_c - 1) + t * t / (n_t - 1));
}

static struct difference samples_difference(const struct sample *c, const struct sample *t)
{
	double v_c = c->variance / c->n, v_t = t->variance / t->n;
	return (struct difference){
		.effect = t->mean - c->mean,
		.variance = v_c + v_t,
		.degrees = welch_degrees(v_c, c->n, v_t, t->n),
		.units = c->n + t->n,
		.baseline = c->mean,
		.baseline_variance = v_c,
		.covariance = -v_c,
	};
}

struct comparison samples_compare(const struct sample *control, const struct sample *treatment,
                                  const struct testing *how)
{
	struct difference d = samples_difference(control, treatment);
	return difference_test(&d, how);
}

struct comparison samples_compare_adjusted(const struct sample *control,
                                           const struct pre_period *control_pre,
                                           const struct sample *treatment,
                                           const struct pre_period *treatment_pre,
                                           const struct testing *how, double *ret_theta)
{
	struct sample c = *control, t = *treatment;
	double theta = samples_adjust(&c, control_pre, &t, treatment_pre);
	struct difference d = samples_difference(&c, &t);
	*ret_theta = theta;
	d.baseline = control->mean;
	d.baseline_variance = control->variance / control->n;
	if (!isnan(theta))
		d.covariance = -(control->variance - theta * control_pre->covariance) / control->n;
	return difference_test(&d, how);
}

bool quantile_is_enough(double n, double level)
{
	double square = Z_95 * Z_95;
	return n > square * level / (1 - level) && n > square * (1 - level) / level;
}

/* The quantile as a sample of one mean. */
static struct sample quantile_sample(const struct quantile *q)
{
	double se = (q->upper - q->lower) / (2 * Z_95);
	return (struct sample){q->n, q->value, se * se * q->n};
}

struct comparison quantiles_compare(const struct quantile *control,
                                    const struct quantile *treatment, const struct testing *how)
{
	struct sample c = quantile_sample(control), t = quantile_sample(treatment);
	struct difference d = samples_difference(&c, &t);
	d.degrees = INFINITY;
	return difference_test(&d, how);
}

void sample_interval(const struct sample *s, double alpha, double *ret_low, double *ret_high)
{
	double half = NAN;
	if (s->n >= 2)
		half = student_critical(alpha, s->n - 1) * sqrt(s->variance / s->n);
	*ret_low = s->mean - half;
	*ret_high = s->mean + half;
}
