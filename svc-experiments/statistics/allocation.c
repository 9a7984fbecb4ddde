#include "statistics/allocation.h"

#include "statistics/distribution.h"

#include <math.h>

/* The chi square distribution is no approximation for smaller expected counts. */
#define EXPECTED_MIN 8

static double sum_of(const double *values, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

struct allocation allocation_test(const double *units, const double *weights, size_t arms)
{
	struct allocation result = {.chi_square = 0, .p = NAN, .degrees = -1};
	double all = sum_of(units, arms), weight = sum_of(weights, arms), least = INFINITY;
	for (size_t i = 0; i < arms; i++) {
		double expected = all * weights[i] / weight, gap = units[i] - expected;
		if (weights[i] > 0) {
			result.degrees++;
			result.chi_square += gap * gap / expected;
			least = fmin(least, expected);
		} else if (units[i] > 0) {
			result.is_broken = true;
		}
	}
	if (result.degrees < 1 || least < EXPECTED_MIN)
		result.chi_square = NAN;
	else
		result.p = chi_square_p(result.chi_square, result.degrees);
	result.is_broken |= result.p < ALLOCATION_ALPHA;
	return result;
}
