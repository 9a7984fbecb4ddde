#include "statistics/suite.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

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

static int compare_scores(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;
	return (a > b) - (a < b);
}

double interquartile_mean(double *scores, size_t count)
{
	size_t cut = count / 4;
	double sum = 0;
	qsort(scores, count, sizeof(*scores), compare_scores);
	for (size_t i = cut; i < count - cut; i++)
		sum += scores[i];
	return sum / (double)(count - 2 * cut);
}

/* The interquartile mean of one arm: of its scores as they are, or of as many drawn from each
 * task. */
static double arm_mean(const struct suite_task *tasks, size_t count, bool is_treatment,
                       struct suite_random *random, double *scores)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		const double *from = is_treatment ? tasks[i].treatment : tasks[i].control;
		size_t runs = is_treatment ? tasks[i].treatment_count : tasks[i].control_count;
		for (size_t run = 0; run < runs; run++)
			scores[n++] = from[random ? suite_random_below(random, runs) : run];
	}
	return interquartile_mean(scores, n);
}

static double task_improvement(const struct suite_task *task)
{
	double wins = 0;
	for (size_t t = 0; t < task->treatment_count; t++)
		for (size_t c = 0; c < task->control_count; c++)
			wins += task->treatment[t] > task->control[c]    ? 1
			        : task->treatment[t] == task->control[c] ? 0.5
			                                                 : 0;
	return wins / (double)task->treatment_count / (double)task->control_count;
}

/* A percentile of ordered values, linear between neighbours. */
static double percentile(const double *values, size_t count, double share)
{
	double place = share * (double)(count - 1);
	size_t below = (size_t)place, above = MIN_OF(below + 1, count - 1);
	return values[below] + (place - (double)below) * (values[above] - values[below]);
}

/* Twice the smaller share of replicates on one side of 0, which itself is on both. */
static double two_sided_p(const double *values, size_t count)
{
	double above = 0, below = 0;
	for (size_t i = 0; i < count; i++) {
		above += values[i] >= 0;
		below += values[i] <= 0;
	}
	return fmin(1, 2 * (fmin(above, below) + 1) / ((double)count + 1));
}

static size_t replicate_count(const struct suite_task *tasks, size_t count)
{
	size_t draws = 0;
	for (size_t i = 0; i < count; i++)
		draws += tasks[i].control_count + tasks[i].treatment_count;
	return MIN_OF(SUITE_REPLICATES_MAX, MAX_OF(SUITE_DRAWS_MAX / draws, 1));
}

struct suite_result suite_compare(const struct suite_task *tasks, size_t count, double alpha,
                                  uint64_t seed, double *scores, double *replicates)
{
	struct suite_random random = suite_random_for(seed);
	struct suite_result r = {.replicates = replicate_count(tasks, count)};
	r.control = arm_mean(tasks, count, false, NULL, scores);
	r.treatment = arm_mean(tasks, count, true, NULL, scores);
	for (size_t i = 0; i < r.replicates; i++) {
		double control = arm_mean(tasks, count, false, &random, scores);
		replicates[i] = arm_mean(tasks, count, true, &random, scores) - control;
	}
	for (size_t i = 0; i < count; i++)
		r.improvement += task_improvement(&tasks[i]) / (double)count;
	qsort(replicates, r.replicates, sizeof(*replicates), compare_scores);
	r.comparison = (struct comparison){
		.effect = r.treatment - r.control,
		.low = percentile(replicates, r.replicates, alpha / 2),
		.high = percentile(replicates, r.replicates, 1 - alpha / 2),
		.p = two_sided_p(replicates, r.replicates),
		.relative = r.control != 0 ? (r.treatment - r.control) / fabs(r.control) : NAN,
		.relative_low = NAN,
		.relative_high = NAN,
		.se = NAN,
		.critical = NAN,
		.degrees = NAN,
	};
	return r;
}
