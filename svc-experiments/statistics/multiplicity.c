#include "statistics/multiplicity.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

static int compare_p(const void *one, const void *other)
{
	double a = **(double *const *)one, b = **(double *const *)other;
	return (a > b) - (a < b);
}

/* Put the places of the tests in `p` into `ret_order`, the smallest p first. Returns how many. */
static size_t order(double *p, size_t count, double **ret_order)
{
	require(count <= MULTIPLICITY_MAX);
	size_t tests = 0;
	for (size_t i = 0; i < count; i++)
		if (!isnan(p[i]))
			ret_order[tests++] = &p[i];
	qsort(ret_order, tests, sizeof(*ret_order), compare_p);
	return tests;
}

void holm_adjust(double *p, size_t count)
{
	double *ordered[MULTIPLICITY_MAX], largest = 0;
	size_t tests = order(p, count, ordered);
	for (size_t i = 0; i < tests; i++) {
		largest = fmax(largest, fmin(1, (double)(tests - i) * *ordered[i]));
		*ordered[i] = largest;
	}
}

void benjamini_hochberg_adjust(double *p, size_t count)
{
	double *ordered[MULTIPLICITY_MAX], smallest = 1;
	size_t tests = order(p, count, ordered);
	for (size_t i = tests; i-- > 0;) {
		smallest = fmin(smallest, (double)tests / (double)(i + 1) * *ordered[i]);
		*ordered[i] = smallest;
	}
}
