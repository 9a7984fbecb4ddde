#include "statistics/distribution.h"

#include "base/base.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* From here on Hill's expansion has a relative error below 1e-12 for |t| up to 12. */
#define EXPANSION_DEGREES 10000.0

double normal_p(double z)
{
	return erfc(fabs(z) * M_SQRT1_2);
}

/* A ratio of two polynomials of degree 7; coefficients from that of the highest power on. */
static double ratio_at(const double numerator[8], const double denominator[8], double x)
{
	double above = 0, below = 0;
	for (int i = 0; i < 8; i++) {
		above = above * x + numerator[i];
		below = below * x + denominator[i];
	}
	return above / below;
}

/* The three regions of AS 241. */
static double centre_quantile(double q)
{
	static const double A[8] = {
		2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
		45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
		133.14166789178437745, 3.387132872796366608,
	};
	static const double B[8] = {
		5226.495278852545925,  28729.085735721942674,
		39307.89580009271061,  21213.794301586595867,
		5394.1960214247511077, 687.1870074920579083,
		42.313330701600911252, 1.0,
	};
	return q * ratio_at(A, B, 0.180625 - q * q);
}

static double shoulder_quantile(double r)
{
	static const double C[8] = {
		7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
		1.27045825245236838258,   3.64784832476320460504,   5.7694972214606914055,
		4.6303378461565452959,    1.42343711074968357734,
	};
	static const double D[8] = {
		1.05075007164441684324e-9, 5.475938084995344946e-4,
		0.0151986665636164571966,  0.14810397642748007459,
		0.68976733498510000455,    1.6763848301838038494,
		2.05319162663775882187,    1.0,
	};
	return ratio_at(C, D, r - 1.6);
}

static double tail_quantile(double r)
{
	static const double E[8] = {
		2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
		0.026532189526576123093,   0.29656057182850489123,    1.7848265399172913358,
		5.4637849111641143699,     6.6579046435011037772,
	};
	static const double F[8] = {
		2.04426310338993978564e-15, 1.4215117583164458887e-7,
		1.8463183175100546818e-5,   7.868691311456132591e-4,
		0.0148753612908506148525,   0.13692988092273580531,
		0.59983220655588793769,     1.0,
	};
	return ratio_at(E, F, r - 5);
}

double normal_quantile(double p)
{
	double q = p - 0.5;
	if (fabs(q) <= 0.425)
		return centre_quantile(q);
	double r = sqrt(-log(q < 0 ? p : 1 - p));
	double z = r <= 5 ? shoulder_quantile(r) : tail_quantile(r);
	return q < 0 ? -z : z;
}

/* What Lentz' algorithm uses in place of 0. */
static double not_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* The continued fraction of the incomplete beta function; x < (a + 1) / (a + b + 2), where it
 * converges in about the square root of the larger parameter's number of terms. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
	for (double m = 1, change = 0; fabs(change - 1) > DBL_EPSILON && m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		value *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		change = c * d;
		value *= change;
	}
	return value;
}

static double log_gamma(double x)
{
	int sign;
	return lgamma_r(x, &sign);
}

/* The incomplete beta function I_x(a, b); y = 1 - x, which may be too small to be had from x. */
static double beta_incomplete(double a, double b, double x, double y)
{
	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	double front =
		exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

/* Hill's normal deviate with the same two-sided probability. */
static double student_as_normal(double t, double degrees)
{
	double a = degrees - 0.5, b = 48 * a * a, y = a * log1p(t / degrees * t);
	double correction = (((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b);
	return ((correction + y + 3) / b + 1) * sqrt(y);
}

double student_p(double t, double degrees)
{
	if (isinf(degrees))
		return normal_p(t);
	if (isinf(t))
		return 0;
	if (degrees > EXPANSION_DEGREES)
		return normal_p(student_as_normal(t, degrees));
	double square = t * t, whole = degrees + square;
	return beta_incomplete(degrees / 2, 0.5, degrees / whole, square / whole);
}

static double student_density(double t, double degrees)
{
	double ratio = log_gamma((degrees + 1) / 2) - log_gamma(degrees / 2);
	return exp(ratio - (degrees + 1) / 2 * log1p(t * t / degrees)) / sqrt(degrees * M_PI);
}

double student_critical(double alpha, double degrees)
{
	double t = -normal_quantile(alpha / 2), low = 0, high = INFINITY;
	if (degrees > 1e15)
		return t;
	for (int i = 0; i < 200; i++) {
		double excess = student_p(t, degrees) - alpha;
		*(excess > 0 ? &low : &high) = t;
		double next = t + excess / (2 * student_density(t, degrees));
		if (!(next > low && next < high))
			next = isinf(high) ? 2 * t : (low + high) / 2;
		if (fabs(next - t) <= 2 * DBL_EPSILON * t)
			return next;
		t = next;
	}
	return t;
}

double chi_square_p(double x, int degrees)
{
	require(degrees >= 1);
	bool is_odd = degrees % 2;
	double half = x / 2, k = is_odd ? 1 : 2;
	double p = is_odd ? erfc(sqrt(half)) : exp(-half);
	double term = is_odd ? sqrt(half / M_PI) * 2 * exp(-half) : half * exp(-half);
	for (; k < degrees; k += 2) {
		p += term;
		term *= half / (k / 2 + 1);
	}
	return p;
}
