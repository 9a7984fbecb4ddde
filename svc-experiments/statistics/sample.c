#include "statistics/sample.h"

#include "base/base.h"

#include <math.h>

/* A variance below this share of the mean square has fewer than six digits. */
#define VARIANCE_DIGITS 1e-10

/* Larger squares may overflow when they are added and divided. */
#define VARIANCE_MAX 1e200
#define FAULT_SIZE   "are too large"
#define FAULT_DIGITS "have too few digits for the variance"

/* What rounding leaves of a difference of 0, as a share of what was subtracted. */
#define ROUNDING 1e-12

struct sample sample_of_counts(double n, double successes)
{
	double p = successes / n;
	return (struct sample){n, p, p * ((n - successes) / n)};
}

/* Whether values differ from their mean by rounding alone. */
static bool are_equal(const double *values, size_t count, double mean)
{
	double largest = 0, farthest = 0;
	for (size_t i = 0; i < count; i++) {
		largest = fmax(largest, fabs(values[i]));
		farthest = fmax(farthest, fabs(values[i] - mean));
	}
	return farthest <= VALUE_ROUNDING * largest;
}

/* The squares are added up by Welford's recurrence. */
struct sample sample_of_values(const double *values, size_t count)
{
	struct sample s = {.n = (double)count, .variance = NAN};
	double squares = 0;
	for (size_t i = 0; i < count; i++) {
		double gap = values[i] - s.mean;
		s.mean += gap / (double)(i + 1);
		squares += gap * (values[i] - s.mean);
	}
	if (count >= 2)
		s.variance = are_equal(values, count, s.mean) ? 0 : squares / (s.n - 1);
	return s;
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

/* The variance of sums; 0 where it has too few digits to be told from 0. */
struct spread {
	double variance;
	bool is_lost; /* it is not 0 as computed */
};

static sums_fault spread_of(const struct sums *sums, struct spread *ret)
{
	double variance = sums_covariance(sums->n, sums->sum, sums->sum, sums->sum_squares);
	double least = VARIANCE_DIGITS * (sums->sum_squares / sums->n);
	if (variance < 0 && -variance >= least)
		return "give a negative variance: sum_squares is too small for sum and n";
	if (sums->n >= 2 && !(variance <= VARIANCE_MAX))
		return FAULT_SIZE;
	bool is_small = variance < least;
	*ret = (struct spread){is_small ? 0 : variance, is_small && variance != 0};
	return NULL;
}

sums_fault sums_variance(const struct sums *sums, double *ret_variance)
{
	struct spread spread;
	sums_fault fault = spread_of(sums, &spread);
	if (fault)
		return fault;
	if (spread.variance == 0 && sums->sum_squares > 0)
		return FAULT_DIGITS "; send mean and variance";
	*ret_variance = spread.variance;
	return NULL;
}

sums_fault sums_variance_or_none(const struct sums *sums, double *ret_variance)
{
	struct spread spread = {NAN, false};
	sums_fault fault = spread_of(sums, &spread);
	*ret_variance = spread.variance;
	return fault;
}

sums_fault sample_of_sums(const struct sums *sums, struct sample *ret)
{
	*ret = (struct sample){sums->n, sums->sum / sums->n, NAN};
	return sums_variance(sums, &ret->variance);
}

/* The variance of the ratio; what rounding leaves of none is 0. */
static sums_fault ratio_variance(const struct ratio_sums *r, const struct spread *above,
                                 const struct spread *below, double *ret_variance)
{
	double ratio = r->sum / r->denominator_sum, mean = r->denominator_sum / r->n;
	double cov = sums_covariance(r->n, r->sum, r->denominator_sum, r->sum_products);
	double own = (above->variance + ratio * ratio * below->variance) / (mean * mean);
	double variance = own - 2 * ratio * cov / (mean * mean);
	double rounded = VARIANCE_DIGITS * own + ROUNDING * ratio * ratio;
	if (!(ratio * ratio <= VARIANCE_MAX) || (r->n >= 2 && !(variance <= VARIANCE_MAX)))
		return FAULT_SIZE;
	if (variance < -rounded || (own == 0 && variance > rounded))
		return "give a negative variance: sum_products does not fit the other sums";
	*ret_variance = own == 0 || variance < 0 ? 0 : variance;
	return NULL;
}

sums_fault sample_of_ratio(const struct ratio_sums *r, struct sample *ret)
{
	struct spread above, below;
	sums_fault fault = spread_of(&(struct sums){r->n, r->sum, r->sum_squares}, &above);
	if (!fault)
		fault = spread_of(&(struct sums){r->n, r->denominator_sum,
		                                 r->denominator_sum_squares},
		                  &below);
	if (fault)
		return fault;
	if (r->denominator_sum == 0)
		return "have denominators that add up to 0";
	if (above.variance == 0 && below.variance == 0 && (above.is_lost || below.is_lost))
		return FAULT_DIGITS;
	*ret = (struct sample){.n = r->n, .mean = r->sum / r->denominator_sum};
	return ratio_variance(r, &above, &below, &ret->variance);
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
	double within = c_pre->variance + t_pre->variance;
	double covariance = joined(c_pre->covariance, t_pre->covariance, c->n, t->n, gap, pre_gap);
	if (!(within > 0))
		return NAN;
	double theta = covariance / variance;
	adjust(c, c_pre, theta);
	adjust(t, t_pre, theta);
	return theta;
}
