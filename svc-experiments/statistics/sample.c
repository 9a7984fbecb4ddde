#include "statistics/sample.h"

#include "base/base.h"

#include <math.h>
#include <stddef.h>

/* A variance below this share of the mean square has fewer than six digits. */
#define VARIANCE_DIGITS 1e-10

/* Larger squares may overflow when they are added and divided. */
#define VARIANCE_MAX 1e200
#define FAULT_SIZE   "are too large"

struct sample sample_of_counts(double n, double successes)
{
	double p = successes / n;
	return (struct sample){n, p, p * ((n - successes) / n)};
}

/* all - a b / n without the rounding of the product and of the quotient. */
static double centred(double all, double a, double b, double n)
{
	double product = a * b, low = fma(a, b, -product);
	double quotient = product / n;
	double rest = fma(-quotient, n, product) + low;
	return (all - quotient) - rest / n;
}

double sums_covariance(double n, double sum, double other_sum, double sum_products)
{
	return n < 2 ? NAN : centred(sum_products, sum, other_sum, n) / (n - 1);
}

sums_fault sums_variance(const struct sums *sums, double *ret_variance)
{
	double variance = sums_covariance(sums->n, sums->sum, sums->sum, sums->sum_squares);
	if (variance < 0 && -variance >= VARIANCE_DIGITS * (sums->sum_squares / sums->n))
		return "give a negative variance: sum_squares is too small for sum and n";
	if (variance < VARIANCE_DIGITS * (sums->sum_squares / sums->n))
		return "have too few digits for the variance; send mean and variance";
	if (sums->n >= 2 && !(variance <= VARIANCE_MAX))
		return FAULT_SIZE;
	*ret_variance = variance;
	return NULL;
}

sums_fault sample_of_sums(const struct sums *sums, struct sample *ret)
{
	*ret = (struct sample){sums->n, sums->sum / sums->n, NAN};
	return sums_variance(sums, &ret->variance);
}

sums_fault sample_of_ratio(const struct ratio_sums *r, struct sample *ret)
{
	double above, below;
	sums_fault fault = sums_variance(&(struct sums){r->n, r->sum, r->sum_squares}, &above);
	if (!fault)
		fault = sums_variance(&(struct sums){r->n, r->denominator_sum,
		                                     r->denominator_sum_squares},
		                      &below);
	if (fault)
		return fault;
	if (r->denominator_sum == 0)
		return "have denominators that add up to 0";
	double ratio = r->sum / r->denominator_sum, mean = r->denominator_sum / r->n;
	double cov = sums_covariance(r->n, r->sum, r->denominator_sum, r->sum_products);
	double variance = (above - 2 * ratio * cov + ratio * ratio * below) / (mean * mean);
	if (!(ratio * ratio <= VARIANCE_MAX) || (r->n >= 2 && !(variance <= VARIANCE_MAX)))
		return FAULT_SIZE;
	if (variance < -VARIANCE_DIGITS * above / (mean * mean))
		return "give a negative variance: sum_products does not fit the other sums";
	*ret = (struct sample){r->n, ratio, variance < 0 ? 0 : variance};
	return NULL;
}

/* n - 1 times the covariance of two arms as one sample, from those of each; x and y are the
 * differences of the arms' means. */
static double joined(double control, double treatment, double n_c, double n_t, double x, double y)
{
	return (n_c - 1) * control + (n_t - 1) * treatment + n_c * n_t / (n_c + n_t) * x * y;
}

static void adjust(struct sample *s, const struct pre_period *pre, double theta)
{
	double variance = s->variance + theta * theta * pre->variance - 2 * theta * pre->covariance;
	s->mean -= theta * pre->mean;
	s->variance = fmax(variance, 0);
}

double samples_adjust(struct sample *c, const struct pre_period *c_pre, struct sample *t,
                      const struct pre_period *t_pre)
{
	double pre_gap = t_pre->mean - c_pre->mean, gap = t->mean - c->mean;
	double variance = joined(c_pre->variance, t_pre->variance, c->n, t->n, pre_gap, pre_gap);
	double covariance = joined(c_pre->covariance, t_pre->covariance, c->n, t->n, gap, pre_gap);
	if (!(variance > 0))
		return NAN;
	double theta = covariance / variance;
	adjust(c, c_pre, theta);
	adjust(t, t_pre, theta);
	return theta;
}
