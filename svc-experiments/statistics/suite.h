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
 * The percentiles of a plain bootstrap, which `rliable` takes, make an interval too short: a draw
 * from n runs varies by (n - 1) / n of what n runs do, and the spread itself is estimated. Both are
 * made up for by percentiles further out (the expanded percentile interval of Hesterberg, "What
 * teachers should know about the bootstrap", The American Statistician 69, 2015),
 *
 *     alpha' / 2 = P(Z < -expansion t),   t of Student at 1 - alpha / 2
 *
 * For the mean of one sample Hesterberg has expansion^2 = n / (n - 1), which is the variance of
 * the mean over that of the draws, and n - 1 degrees. Here both come from the variance of a trimmed
 * mean of strata: with w the N scores of an arm cut off at the ends of the middle half (Yuen,
 * Biometrika 61, 1974), h scores within it, and s_k^2 the variance of w in the n_k runs of a task,
 *
 *     v_k = (N - 1) / N  h / (h - 1)  n_k s_k^2 / h^2
 *     V = sum of v_k over tasks and arms
 *     expansion^2 = V / variance of the replicates
 *     degrees = V^2 / sum of v_k^2 / (n_k - 1)                        Satterthwaite's
 *
 * Of a single task v is Yuen's (N - 1) s^2 / (h (h - 1)); her h - 1 degrees are too few for strata,
 * whose ends many scores estimate. In simulations a 95 % interval has the truth in .946 to .953,
 * the least of one task with 10 runs (tests/bench/README.md).
 *
 * The relative effect has the percentiles of the replicates' relative effects. Where alpha' / 2 is
 * less than the share of one replicate, as with few runs, a small alpha or few replicates, there is
 * no such percentile, and the interval is Student's of the trimmed means, D -+ t sqrt(V), with its
 * p and Fieller's relative interval (comparison.h). Either way both intervals exclude 0 together,
 * and p <= alpha if and only if they do.
 *
 * Reproducible: the generator is xoshiro256++ (Blackman and Vigna, ACM Transactions on Mathematical
 * Software 47, 2021), seeded by SplitMix64 from a number that the input gives. */
#pragma once

#include "base/arena.h"
#include "statistics/comparison.h"

#include <stddef.h>
#include <stdint.h>

/** Draws of all replicates of an analysis together, and replicates. */
#define SUITE_DRAWS_MAX      200000000
#define SUITE_REPLICATES_MAX 10000

/** The scores of a task, control and treatment; at least one each, finite. */
struct suite_task {
	const double *control, *treatment;
	size_t control_count, treatment_count;
};

/** How they are compared. */
struct suite_testing {
	double alpha;
	uint64_t seed;
	size_t draws_max; /* at least 1; fewer replicates are drawn where they would need more */
};

struct suite_result {
	struct comparison comparison; /* `se` is sqrt(V); no variance: only the effects are set */
	double control, treatment;    /* interquartile means */
	double improvement;           /* probability, 0 to 1 */
	size_t replicates;            /* that were drawn */
};

/** Compare; `scratch` holds what is needed meanwhile, some 40 bytes a score. Takes two seconds at
 * SUITE_DRAWS_MAX: for the thread pool. */
struct suite_result suite_compare(struct arena *scratch, const struct suite_task *tasks,
                                  size_t count, const struct suite_testing *how);

/** The generator, also for simulations in tests. */
struct suite_random {
	uint64_t state[4];
};

struct suite_random suite_random_for(uint64_t seed);
uint64_t suite_random_next(struct suite_random *random);

/** A whole number below `bound`, all equally likely (Lemire's method, ACM Transactions on Modeling
 * and Computer Simulation 29, 2019); 0 < bound < 2^32. */
size_t suite_random_below(struct suite_random *random, size_t bound);
