#include "statistics/suite.h"

#include "base/base.h"
#include "statistics/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t rotate(uint64_t x, int by)
{
	return (x << by) | (x >> (64 - by));
}

struct suite_random suite_random_for(uint64_t seed)
{
	struct suite_random random;
	for (size_t i = 0; i < ARRAY_LEN(random.state); i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		random.state[i] = z ^ (z >> 31);
	}
	return random;
}

uint64_t suite_random_next(struct suite_random *random)
{
	uint64_t *s = random->state, result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

size_t suite_random_below(struct suite_random *random, size_t bound)
{
	uint64_t product = (suite_random_next(random) >> 32) * bound;
	uint64_t least = (UINT32_C(0) - (uint32_t)bound) % (uint32_t)bound;
	while ((uint32_t)product < least)
		product = (suite_random_next(random) >> 32) * bound;
	return product >> 32;
}

/* ---- An arm ---------------------------------------------------------------------------------- */

/* The scores of all tasks in an arm, in order. Each run knows the rank of its score, so the
 * interquartile mean of a replicate needs no sorting: it counts how often each rank was drawn. */
struct arm {
	size_t n, cut; /* scores, and how many are cut off at each end */
	double *sorted;
	uint32_t *ranks; /* of runs, task after task */
	uint32_t *drawn; /* of ranks */
};

struct score {
	double value;
	uint32_t run;
};

static int compare_scores(const void *one, const void *other)
{
	double a = ((const struct score *)one)->value, b = ((const struct score *)other)->value;
	return (a > b) - (a < b);
}

static int compare_numbers(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;
	return (a > b) - (a < b);
}

static size_t runs_of(const struct suite_task *task, bool is_treatment)
{
	return is_treatment ? task->treatment_count : task->control_count;
}

static const double *scores_of(const struct suite_task *task, bool is_treatment)
{
	return is_treatment ? task->treatment : task->control;
}

static struct score *sort_scores(struct arena *arena, const struct suite_task *tasks, size_t count,
                                 bool is_treatment, size_t n)
{
	struct score *scores = arena_array(arena, n, sizeof(*scores));
	uint32_t run = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < runs_of(&tasks[i], is_treatment); k++, run++)
			scores[run] = (struct score){scores_of(&tasks[i], is_treatment)[k], run};
	qsort(scores, n, sizeof(*scores), compare_scores);
	return scores;
}

static struct arm arm_of(struct arena *arena, const struct suite_task *tasks, size_t count,
                         bool is_treatment)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		n += runs_of(&tasks[i], is_treatment);
	struct score *scores = sort_scores(arena, tasks, count, is_treatment, n);
	struct arm arm = {
		.n = n,
		.cut = n / 4,
		.sorted = arena_array(arena, n, sizeof(*arm.sorted)),
		.ranks = arena_array(arena, n, sizeof(*arm.ranks)),
		.drawn = arena_array(arena, n, sizeof(*arm.drawn)),
	};
	for (size_t rank = 0; rank < n; rank++) {
		arm.sorted[rank] = scores[rank].value;
		arm.ranks[scores[rank].run] = (uint32_t)rank;
		arm.drawn[rank] = 1;
	}
	return arm;
}

/* The mean of the middle half of the scores that `drawn` counts, as many as there are runs. */
static double interquartile_mean(const struct arm *arm)
{
	size_t seen = 0, from = arm->cut, to = arm->n - arm->cut;
	double sum = 0;
	for (size_t rank = 0; rank < arm->n && seen < to; rank++) {
		size_t end = seen + arm->drawn[rank], first = MAX_OF(seen, from);
		size_t last = MIN_OF(end, to);
		if (last > first)
			sum += (double)(last - first) * arm->sorted[rank];
		seen = end;
	}
	return sum / (double)(to - from);
}

/* The interquartile mean when the runs of each task are drawn again. */
static double drawn_mean(struct arm *arm, const struct suite_task *tasks, size_t count,
                         bool is_treatment, struct suite_random *random)
{
	const uint32_t *ranks = arm->ranks;
	memset(arm->drawn, 0, arm->n * sizeof(*arm->drawn));
	for (size_t i = 0; i < count; i++) {
		size_t runs = runs_of(&tasks[i], is_treatment);
		for (size_t k = 0; k < runs; k++)
			arm->drawn[ranks[suite_random_below(random, runs)]]++;
		ranks += runs;
	}
	return interquartile_mean(arm);
}

/* ---- The variance ---------------------------------------------------------------------------- */

/* Sums over tasks and arms. */
struct spread {
	double variance; /* V */
	double control;  /* of it, that of the control */
	double below;    /* what V^2 is divided by for the degrees of freedom */
};

/* The squares of the distances of scores from their mean, when they are cut off at `low` and
 * `high` (Welford's recurrence). */
static double squares_within(const double *scores, size_t count, double low, double high)
{
	double mean = 0, squares = 0;
	for (size_t i = 0; i < count; i++) {
		double x = fmin(fmax(scores[i], low), high), gap = x - mean;
		mean += gap / (double)(i + 1);
		squares += gap * (x - mean);
	}
	return squares;
}

static void add_spread(struct spread *sum, const struct arm *arm, const struct suite_task *tasks,
                       size_t count, bool is_treatment)
{
	double low = arm->sorted[arm->cut], high = arm->sorted[arm->n - 1 - arm->cut];
	double all = (double)arm->n, within = (double)(arm->n - 2 * arm->cut);
	double cut =
		(all - 1) / all * within / (within - 1); /* for the ends, which are estimated */
	for (size_t i = 0; i < count; i++) {
		size_t runs = runs_of(&tasks[i], is_treatment);
		if (runs < 2)
			continue;
		double n = (double)runs;
		double squares =
			squares_within(scores_of(&tasks[i], is_treatment), runs, low, high);
		double part = cut * squares / within / within * n / (n - 1);
		sum->variance += part;
		sum->below += part * part / (n - 1);
	}
}

/* ---- The bootstrap --------------------------------------------------------------------------- */

struct replicates {
	double *effects, *relatives; /* in order */
	double variance;             /* of the effects */
	size_t count;
	bool is_relative; /* the control has the same sign in all of them */
};

static size_t replicate_count(size_t draws, const struct suite_testing *how)
{
	return MIN_OF(SUITE_REPLICATES_MAX, MAX_OF(how->draws_max / draws, 1));
}

static struct replicates draw(struct arena *arena, const struct suite_task *tasks, size_t count,
                              struct arm *control, struct arm *treatment,
                              const struct suite_testing *how)
{
	struct suite_random random = suite_random_for(how->seed);
	struct replicates r = {.count = replicate_count(control->n + treatment->n, how)};
	bool is_above = true, is_below = true;
	r.effects = arena_array(arena, r.count, sizeof(*r.effects));
	r.relatives = arena_array(arena, r.count, sizeof(*r.relatives));
	for (size_t i = 0; i < r.count; i++) {
		double c = drawn_mean(control, tasks, count, false, &random);
		r.effects[i] = drawn_mean(treatment, tasks, count, true, &random) - c;
		r.relatives[i] = r.effects[i] / fabs(c);
		is_above &= c > 0;
		is_below &= c < 0;
	}
	r.is_relative = is_above || is_below;
	r.variance = squares_within(r.effects, r.count, -INFINITY, INFINITY) / (double)r.count;
	qsort(r.effects, r.count, sizeof(*r.effects), compare_numbers);
	if (r.is_relative)
		qsort(r.relatives, r.count, sizeof(*r.relatives), compare_numbers);
	return r;
}

/* The replicates between which the interval lies: one `at` from each end. */
static void set_bounds(const struct replicates *r, size_t at, struct comparison *c)
{
	bool is_relative = r->is_relative && !isnan(c->relative);
	c->low = r->effects[at];
	c->high = r->effects[r->count - 1 - at];
	c->relative_low = is_relative ? r->relatives[at] : NAN;
	c->relative_high = is_relative ? r->relatives[r->count - 1 - at] : NAN;
}

/* The smaller share of replicates on one side of 0, which itself is on both, as if there were one
 * more. */
static double share_beyond_0(const struct replicates *r)
{
	double above = 1, below = 1;
	for (size_t i = 0; i < r->count; i++) {
		above += r->effects[i] >= 0;
		below += r->effects[i] <= 0;
	}
	return fmin(above, below) / ((double)r->count + 1);
}

/* Student's interval and p of the two interquartile means. */
static struct comparison student_test(const struct suite_result *r, const struct spread *spread,
                                      double alpha)
{
	const struct difference d = {
		.effect = r->treatment - r->control,
		.variance = spread->variance,
		.degrees = fmax(spread->variance * spread->variance / spread->below, 1),
		.baseline = r->control,
		.baseline_variance = spread->control,
		.covariance = -spread->control,
	};
	return difference_test(&d, &(struct testing){.alpha = alpha});
}

/* The interval at the percentiles that are further out, and the p that they belong to. Beyond the
 * last replicate there is none: then what `c` says already, Student's, stays. */
static void bootstrap_test(const struct replicates *r, struct comparison *c)
{
	double expansion = c->se / sqrt(r->variance), beyond = share_beyond_0(r);
	double share = normal_p(expansion * c->critical) / 2;
	size_t place = (size_t)(share * ((double)r->count + 1));
	if (place < 1)
		return;
	set_bounds(r, place - 1, c);
	c->p = beyond >= 0.5 ? 1 : student_p(normal_quantile(beyond) / expansion, c->degrees);
}

/* ---- Improvement ----------------------------------------------------------------------------- */

/* How many of the ordered scores are below `x`, or with `or_equal` not above it. */
static size_t count_below(const double *sorted, size_t count, double x, bool or_equal)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sorted[middle] < x || (or_equal && sorted[middle] == x))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The probability that a run of the treatment is better than one of the control, ties half. */
static double task_improvement(struct arena *arena, const struct suite_task *task)
{
	size_t n = task->control_count;
	double *sorted = arena_memdup(arena, task->control, n * sizeof(*sorted)), wins = 0;
	qsort(sorted, n, sizeof(*sorted), compare_numbers);
	for (size_t i = 0; i < task->treatment_count; i++) {
		double x = task->treatment[i];
		wins += (double)(count_below(sorted, n, x, false) +
		                 count_below(sorted, n, x, true)) /
		        2;
	}
	return wins / (double)task->treatment_count / (double)n;
}

struct suite_result suite_compare(struct arena *scratch, const struct suite_task *tasks,
                                  size_t count, const struct suite_testing *how)
{
	struct arm control = arm_of(scratch, tasks, count, false);
	struct arm treatment = arm_of(scratch, tasks, count, true);
	struct suite_result r = {.control = interquartile_mean(&control),
	                         .treatment = interquartile_mean(&treatment)};
	struct spread spread = {0};
	r.comparison = comparison_untested(r.control, r.treatment);
	for (size_t i = 0; i < count; i++)
		r.improvement += task_improvement(scratch, &tasks[i]) / (double)count;
	add_spread(&spread, &control, tasks, count, false);
	spread.control = spread.variance;
	add_spread(&spread, &treatment, tasks, count, true);
	if (!(spread.below > 0))
		return r;
	struct replicates replicates = draw(scratch, tasks, count, &control, &treatment, how);
	r.replicates = replicates.count;
	if (!(replicates.variance > 0))
		return r;
	r.comparison = student_test(&r, &spread, how->alpha);
	bootstrap_test(&replicates, &r.comparison);
	return r;
}
