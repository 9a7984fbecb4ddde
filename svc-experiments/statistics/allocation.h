/** Whether units came to the arms in the planned proportions (sample ratio mismatch): Pearson's chi
 * square test of the counts. A mismatch says that the assignment or the counting is broken, so that
 * no comparison of the arms means anything. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Below this p the arms are no fair comparison; the threshold of GrowthBook. */
#define ALLOCATION_ALPHA 0.001

struct allocation {
	double chi_square, p; /* NaN: an expected count is below 8, or there is one arm only */
	int degrees;          /* arms of a weight above 0, less 1 */
	bool is_broken;       /* p < ALLOCATION_ALPHA, or units in an arm of weight 0 */
};

/** Test units against weights, which need not add up to 1. */
struct allocation allocation_test(const double *units, const double *weights, size_t arms);
