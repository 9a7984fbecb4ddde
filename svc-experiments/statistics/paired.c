#include "statistics/paired.h"

#include "base/base.h"
#include "statistics/distribution.h"

#include <math.h>

static double log_gamma(double x)
{
	int sign;
	return lgamma_r(x, &sign);
}

/* P(X <= k) - P(X = k) / 2 for X of n fair coins and k <= n / 2. */
static double mid_tail(double n, double k)
{
	double log_chance = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
	double chance = exp(log_chance - n * M_LN2), sum = chance / 2;
	for (double i = k; i >= 1 && chance > 0; i--) {
		chance *= i / (n - i + 1);
		sum += chance;
	}
	return sum;
}

static double mid_p(double b, double a)
{
	if (a == b)
		return 1;
	return fmin(1, 2 * mid_tail(a + b, fmin(a, b)));
}

/* Tango's score at a difference d; it falls as d rises. */
static double tango_score(const struct discordance *pairs, double d)
{
	double n = pairs->n, b = pairs->treatment, a = pairs->control;
	double gap = b - a - n * d;
	if (gap == 0)
		return 0;
	double half = ((2 * n - b + a) * d - b - a) / 2, c = -a * d * (1 - d);
	double root = sqrt(fmax(half * half - 2 * n * c, 0));
	double q = half > 0 ? -c / (half + root) : (root - half) / (2 * n);
	return gap / sqrt(fmax(n * (2 * q + d * (1 - d)), 0));
}

static double tango_bound(const struct discordance *pairs, double z, double low, double high)
{
	for (int i = 0; i < 100; i++) {
		double middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			break;
		*(tango_score(pairs, middle) > z ? &low : &high) = middle;
	}
	return low + (high - low) / 2;
}

/* Of pairs without a variance Fieller's interval would be one point. It is Tango's, divided by the
 * baseline, which must be q standard errors from 0 for either. */
static void set_relative_bounds(const struct difference *d, struct comparison *c)
{
	double q = c->critical, baseline = d->baseline;
	if (d->variance > 0 || !(baseline * baseline > q * q * d->baseline_variance))
		return;
	c->relative_low = c->low / baseline;
	c->relative_high = c->high / baseline;
}

struct comparison discordance_compare(const struct discordance *pairs, const struct testing *how)
{
	double n = pairs->n, b = pairs->treatment, a = pairs->control, d = (b - a) / n;
	double baseline = (pairs->both + a) / n, q = -normal_quantile(how->alpha / 2);
	struct testing once = {.alpha = how->alpha};
	struct difference difference = {.effect = d,
	                                .variance = fmax((b + a) / n - d * d, 0) / n,
	                                .degrees = INFINITY,
	                                .units = 2 * n,
	                                .baseline = baseline,
	                                .baseline_variance = baseline * (1 - baseline) / n,
	                                .covariance = (-a / n - d * baseline) / n};
	struct comparison c = difference_test(&difference, &once);
	c.low = tango_bound(pairs, q, -1, d);
	c.high = tango_bound(pairs, -q, d, 1);
	c.p = mid_p(b, a);
	c.critical = q;
	set_relative_bounds(&difference, &c);
	return c;
}

/* Sums over the clusters of the squares and the product of two rows of sums. */
struct cluster_sums {
	double differences, controls, products;
};

static struct cluster_sums add_clusters(const struct example_pair *pairs, size_t count,
                                        size_t cluster_count, double *sums, double mean_c,
                                        double mean_d)
{
	double *differences = sums, *controls = sums + cluster_count;
	for (size_t g = 0; g < 2 * cluster_count; g++)
		sums[g] = 0;
	for (size_t i = 0; i < count; i++) {
		const struct example_pair *e = &pairs[i];
		differences[e->cluster] += e->treatment - e->control - mean_d;
		controls[e->cluster] += e->control - mean_c;
	}
	struct cluster_sums all = {0};
	for (size_t g = 0; g < cluster_count; g++) {
		all.differences += differences[g] * differences[g];
		all.controls += controls[g] * controls[g];
		all.products += differences[g] * controls[g];
	}
	return all;
}

/* Whether the sums of the clusters differ from 0 by rounding alone: what 0.3 - 0.2 and 0.7 - 0.6
 * differ by is no variance. That of a sum is once that of a value for each of its values. `members`
 * gets the sizes of the clusters. */
static bool are_zero(const double *differences, size_t cluster_count,
                     const struct example_pair *pairs, size_t count, double *members)
{
	double largest = 0;
	for (size_t g = 0; g < cluster_count; g++)
		members[g] = 0;
	for (size_t i = 0; i < count; i++) {
		largest = fmax(largest, fmax(fabs(pairs[i].control), fabs(pairs[i].treatment)));
		members[pairs[i].cluster]++;
	}
	for (size_t g = 0; g < cluster_count; g++)
		if (fabs(differences[g]) > VALUE_ROUNDING * largest * members[g])
			return false;
	return true;
}

struct comparison pairs_compare(const struct example_pair *pairs, size_t count,
                                size_t cluster_count, double *sums, const struct testing *how)
{
	require(count > 0);
	double n = (double)count, groups = (double)cluster_count;
	long double sum_c = 0, sum_d = 0;
	for (size_t i = 0; i < count; i++) {
		sum_c += pairs[i].control;
		sum_d += pairs[i].treatment - pairs[i].control;
	}
	double mean_c = (double)(sum_c / n), mean_d = (double)(sum_d / n);
	struct cluster_sums all = add_clusters(pairs, count, cluster_count, sums, mean_c, mean_d);
	double *members = sums + 2 * cluster_count;
	if (cluster_count < 2 || are_zero(sums, cluster_count, pairs, count, members))
		return comparison_untested(mean_c, mean_c + mean_d);
	double scale = groups / (groups - 1) / n / n;
	return difference_test(&(struct difference){.effect = mean_d,
	                                            .variance = scale * all.differences,
	                                            .degrees = groups - 1,
	                                            .units = 2 * n,
	                                            .baseline = mean_c,
	                                            .baseline_variance = scale * all.controls,
	                                            .covariance = scale * all.products},
	                       how);
}

double pass_at_k(size_t n, size_t c, size_t k)
{
	require(k <= n && c <= n);
	if (n - c < k)
		return 1;
	double none = 1;
	for (size_t i = n - c + 1; i <= n; i++)
		none *= 1 - (double)k / (double)i;
	return 1 - none;
}
