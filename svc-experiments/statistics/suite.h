/** Benchmark suites: scores of runs on tasks, two arms (Agarwal, Schwarzer, Castro, Courville and
 * Bellemare, "Deep reinforcement learning at the edge of the statistical precipice", 2021;
 * `rliable`).
 *
 *     interquartile mean   the mean of the middle half of all runs and tasks: a quarter, rounded down,
 *                          is cut off at each end
 *     interval             percentile bootstrap of the difference; the runs of each task are drawn
 *                          again with replacement
 *     improvement          mean over tasks of P(t > c), ties half
 *
 * Reproducible: the generator is xoshiro256++ (Blackman and Vigna, ACM Transactions on Mathematical
 * Software 47, 2021), seeded by SplitMix64 from a number that the input gives. */
#pragma once

#include "statistics/comparison.h"

#include <stddef.h>
#include <stdint.h>

/** Draws of all replicates together, and replicates. */
#define SUITE_DRAWS_MAX      200000000
#define SUITE_REPLICATES_MAX 10000

/** The scores of a task, control and treatment; at least one each, finite. */
struct suite_task {
	const double *control, *treatment;
	size_t control_count, treatment_count;
};

struct suite_result {
	struct comparison
		comparison; /* no `se`; p is twice the smaller share of replicates beyond 0 */
	double control, treatment; /* interquartile means */
	double improvement;        /* probability, 0 to 1 */
	size_t replicates;         /* that were drawn: as many as SUITE_DRAWS_MAX allows */
};

/** Compare. `scores` is room for all scores of both arms and `replicates` for SUITE_REPLICATES_MAX
 * numbers. Takes seconds at SUITE_DRAWS_MAX: for the thread pool. */
struct suite_result suite_compare(const struct suite_task *tasks, size_t count, double alpha,
                                  uint64_t seed, double *scores, double *replicates);

/** The interquartile mean of scores, which are reordered. */
double interquartile_mean(double *scores, size_t count);

/** The generator, also for simulations in tests. */
struct suite_random {
	uint64_t state[4];
};

struct suite_random suite_random_for(uint64_t seed);
uint64_t suite_random_next(struct suite_random *random);

/** A whole number below `bound`, all equally likely (Lemire's method, ACM Transactions on Modeling
 * and Computer Simulation 29, 2019); 0 < bound < 2^32. */
size_t suite_random_below(struct suite_random *random, size_t bound);
