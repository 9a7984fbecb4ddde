#include "statistics/sample_size.h"

#include "statistics/distribution.h"

#include <math.h>

static double whole(double n)
{
	return n <= SAMPLE_SIZE_MAX ? ceil(n) : INFINITY;
}

/* The least effect that n units in each arm find. */
static double sequential_effect(double n, double variance, double power, const struct testing *how)
{
	double critical = testing_critical(how, 2 * n, INFINITY);
	return (critical + normal_quantile(power)) * sqrt(variance / n);
}

/* Bisection over whole numbers; the effect that is found falls with n. */
static double sequential_size(double delta, double variance, double power,
                              const struct testing *how)
{
	double low = 0, high = SAMPLE_SIZE_MAX;
	if (sequential_effect(high, variance, power, how) > delta)
		return INFINITY;
	while (high - low > 1) {
		double middle = floor((low + high) / 2);
		*(sequential_effect(middle, variance, power, how) > delta ? &low : &high) = middle;
	}
	return high;
}

double sample_size_of_means(double delta, double variance, double power, const struct testing *how)
{
	if (how->is_sequential)
		return sequential_size(fabs(delta), variance, power, how);
	double z = (normal_quantile(1 - how->alpha / 2) + normal_quantile(power)) / delta;
	return whole(z * z * variance);
}

static double spread(double p)
{
	return p * (1 - p);
}

double sample_size_of_proportions(double p_c, double p_t, double power, const struct testing *how)
{
	double each = spread(p_c) + spread(p_t), delta = p_t - p_c;
	if (how->is_sequential)
		return sequential_size(fabs(delta), each, power, how);
	double z_q = normal_quantile(1 - how->alpha / 2), z_power = normal_quantile(power);
	double z = (z_q * sqrt(2 * spread((p_c + p_t) / 2)) + z_power * sqrt(each)) / delta;
	return whole(z * z);
}

double minimum_detectable(const struct comparison *c, double power)
{
	return c->se > 0 ? (c->critical + normal_quantile(power)) * c->se : NAN;
}

double needed_units(const struct comparison *c, double units, double delta, double power,
                    const struct testing *how)
{
	if (!(c->se > 0) || !(delta != 0))
		return NAN;
	/* What one unit of `units` adds to the spread, as if half of them were in each arm. */
	double variance = c->se * c->se * units / 2;
	return 2 * sample_size_of_means(delta, variance, power, how);
}
