#include "statistics/simulation.h"

#include "base/base.h"
#include "statistics/allocation.h"
#include "statistics/distribution.h"
#include "statistics/paired.h"
#include "statistics/proportion.h"

#include <math.h>
#include <stdlib.h>

static const struct testing FIXED = {.alpha = 0.05};

/* --- Drawing ---------------------------------------------------------------------------------- */

static double uniform(struct suite_random *random)
{
	return ((double)(suite_random_next(random) >> 12) + 0.5) / 4503599627370496.0;
}

static double normal(struct suite_random *random)
{
	return normal_quantile(uniform(random));
}

static double exponential(struct suite_random *random)
{
	return -log(uniform(random));
}

static double successes(struct suite_random *random, int n, double p)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		count += uniform(random) < p;
	return count;
}

/* Welford's sums of a growing sample. */
static void add(struct sample *s, double *squares, double x)
{
	double gap = x - s->mean;
	s->n++;
	s->mean += gap / s->n;
	*squares += gap * (x - s->mean);
	s->variance = *squares / (s->n - 1);
}

static struct sample normal_sample(struct suite_random *random, int n, double mean, double sd)
{
	struct sample s = {0};
	double squares = 0;
	for (int i = 0; i < n; i++)
		add(&s, &squares, mean + sd * normal(random));
	return s;
}

/* --- What is asked ---------------------------------------------------------------------------- */

static bool has(const struct comparison *c, double truth)
{
	return c->low <= truth && truth <= c->high;
}

/* A bound that does not exist excludes nothing. */
static bool has_relative(const struct comparison *c, double truth)
{
	return !(c->relative_low > truth) && !(c->relative_high < truth);
}

/* --- Means, ratios, quantiles ----------------------------------------------------------------- */

/* Unequal sizes and spreads. */
static struct comparison compare_means(struct suite_random *random)
{
	struct sample c = normal_sample(random, 8, 10, 1), t = normal_sample(random, 15, 11, 4);
	return samples_compare(&c, &t, &FIXED);
}

static bool means(struct suite_random *random)
{
	struct comparison r = compare_means(random);
	return has(&r, 1);
}

static bool means_relative(struct suite_random *random)
{
	struct comparison r = compare_means(random);
	return has_relative(&r, 0.1);
}

/* A baseline three standard errors from 0. Where Fieller's set has no bounds it may still lack some
 * values, the answer lacks none. */
static bool means_near_0(struct suite_random *random)
{
	struct sample c = normal_sample(random, 100, 0.3, 1),
		      t = normal_sample(random, 100, 0.45, 1);
	struct comparison r = samples_compare(&c, &t, &FIXED);
	return has_relative(&r, 0.5);
}

/* Units with a value before the experiment that explains half of the spread. */
static struct sample sample_with_past(struct suite_random *random, double mean,
                                      struct pre_period *ret_past)
{
	enum { UNITS = 100 };
	double squares = 0, past_squares = 0, products = 0;
	struct sample now = {0}, past = {0};
	for (int i = 0; i < UNITS; i++) {
		double before = normal(random), gap = before - past.mean;
		double after = mean + before + normal(random);
		add(&past, &past_squares, before);
		products += gap * (after - now.mean) * i / (i + 1.0);
		add(&now, &squares, after);
	}
	*ret_past = (struct pre_period){past.mean, past.variance, products / (UNITS - 1)};
	return now;
}

static bool means_adjusted(struct suite_random *random)
{
	struct pre_period c_past, t_past;
	double theta;
	struct sample c = sample_with_past(random, 5, &c_past);
	struct sample t = sample_with_past(random, 5.2, &t_past);
	struct comparison r = samples_compare_adjusted(&c, &c_past, &t, &t_past, &FIXED, &theta);
	return has(&r, 0.2);
}

/* Clicks of views: users differ in how much they view. */
static struct sample ratio_sample(struct suite_random *random, double rate)
{
	struct ratio_sums sums = {.n = 400};
	struct sample s;
	for (int i = 0; i < 400; i++) {
		double views = 1 + floor(4 * exponential(random));
		double clicks = successes(random, (int)views, rate);
		sums.sum += clicks;
		sums.sum_squares += clicks * clicks;
		sums.denominator_sum += views;
		sums.denominator_sum_squares += views * views;
		sums.sum_products += clicks * views;
	}
	require(!sample_of_ratio(&sums, &s));
	return s;
}

static bool ratios(struct suite_random *random)
{
	struct sample c = ratio_sample(random, 0.2), t = ratio_sample(random, 0.22);
	struct comparison r = samples_compare(&c, &t, &FIXED);
	return has(&r, 0.02);
}

static int compare_numbers(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;
	return (a > b) - (a < b);
}

/* The median of an exponential distribution, with its order statistics 1.96 standard errors of the
 * level below and above. */
static struct quantile median(struct suite_random *random, double scale)
{
	enum { UNITS = 2000 };
	static double values[UNITS];
	double half = 1.959963984540054 * sqrt(0.25 / UNITS);
	for (int i = 0; i < UNITS; i++)
		values[i] = scale * exponential(random);
	qsort(values, UNITS, sizeof(*values), compare_numbers);
	return (struct quantile){UNITS, values[UNITS / 2], values[(int)(UNITS * (0.5 - half))],
	                         values[(int)(UNITS * (0.5 + half))]};
}

static bool quantiles(struct suite_random *random)
{
	struct quantile c = median(random, 1), t = median(random, 1.1);
	struct comparison r = quantiles_compare(&c, &t, &FIXED);
	return has(&r, 0.1 * log(2));
}

/* --- Proportions ------------------------------------------------------------------------------ */

/* The exact coverage of a score interval goes up and down with the proportions; this is its mean
 * over many of them. */
static struct comparison compare_proportions(struct suite_random *random, double *ret_c,
                                             double *ret_t)
{
	*ret_c = 0.1 + 0.8 * uniform(random);
	*ret_t = 0.1 + 0.8 * uniform(random);
	struct proportion c = {40, successes(random, 40, *ret_c)};
	struct proportion t = {60, successes(random, 60, *ret_t)};
	return proportions_compare(&c, &t, &FIXED);
}

static bool proportions(struct suite_random *random)
{
	double p_c, p_t;
	struct comparison r = compare_proportions(random, &p_c, &p_t);
	return has(&r, p_t - p_c);
}

static bool proportions_relative(struct suite_random *random)
{
	double p_c, p_t;
	struct comparison r = compare_proportions(random, &p_c, &p_t);
	return has_relative(&r, p_t / p_c - 1);
}

static bool proportion_of_one_arm(struct suite_random *random)
{
	double p = 0.1 + 0.8 * uniform(random), low, high;
	struct proportion one = {40, successes(random, 40, p)};
	proportion_interval(&one, 0.05, &low, &high);
	return low <= p && p <= high;
}

/* --- Pairs ------------------------------------------------------------------------------------ */

static struct comparison compare_discordance(struct suite_random *random, double gain, double loss)
{
	struct discordance pairs = {.n = 60};
	for (int i = 0; i < 60; i++) {
		double u = uniform(random);
		pairs.treatment += u < gain;
		pairs.control += u >= gain && u < gain + loss;
	}
	return discordance_compare(&pairs, &FIXED);
}

static bool pairs_of_0_and_1(struct suite_random *random)
{
	double gain = 0.4 * uniform(random), loss = 0.4 * uniform(random);
	struct comparison r = compare_discordance(random, gain, loss);
	return has(&r, gain - loss);
}

/* Being discrete, it does not use all of its level. */
static bool mid_p_alarms(struct suite_random *random)
{
	double both = 0.4 * uniform(random);
	return compare_discordance(random, both, both).p <= 0.05;
}

/* Five examples to a cluster that share most of what makes them differ. */
static bool clustered_pairs(struct suite_random *random)
{
	struct example_pair pairs[150];
	double sums[90], shared = 0;
	for (size_t e = 0; e < ARRAY_LEN(pairs); e++) {
		shared = e % 5 ? shared : normal(random);
		double c = normal(random), d = 0.3 + shared + normal(random);
		pairs[e] = (struct example_pair){c, c + d, e / 5};
	}
	struct comparison r = pairs_compare(pairs, ARRAY_LEN(pairs), 30, sums, &FIXED);
	return has(&r, 0.3);
}

/* --- Suites ----------------------------------------------------------------------------------- */

#define TASKS_MAX 26
#define RUNS_MAX  20

/* Less than the service draws, which widens the interval by some thousandths of its length. */
#define REPLICATES 2000

/* The treatment adds 0.1 to every run. The tasks differ by `step`, so a wide one lets the quartiles
 * fall between tasks. */
static bool has_suite(struct suite_random *random, size_t count, size_t runs, double step,
                      double (*noise)(struct suite_random *random))
{
	static double control[TASKS_MAX][RUNS_MAX], treatment[TASKS_MAX][RUNS_MAX];
	struct suite_task tasks[TASKS_MAX];
	for (size_t t = 0; t < count; t++) {
		for (size_t i = 0; i < runs; i++) {
			control[t][i] = step * (double)t + 0.2 * noise(random);
			treatment[t][i] = step * (double)t + 0.1 + 0.2 * noise(random);
		}
		tasks[t] = (struct suite_task){control[t], treatment[t], runs, runs};
	}
	struct arena *scratch = arena_new();
	struct suite_testing how = {0.05, suite_random_next(random), REPLICATES * 2 * count * runs};
	struct suite_result r = suite_compare(scratch, tasks, count, &how);
	arena_free(scratch);
	return has(&r.comparison, 0.1);
}

static bool suite_of_20_runs(struct suite_random *random)
{
	return has_suite(random, 8, 20, 0.1, normal);
}

static bool suite_of_5_runs(struct suite_random *random)
{
	return has_suite(random, 8, 5, 0.1, normal);
}

static bool suite_of_26_tasks(struct suite_random *random)
{
	return has_suite(random, 26, 5, 0.03, normal);
}

static bool suite_of_skewed_runs(struct suite_random *random)
{
	return has_suite(random, 8, 10, 0.1, exponential);
}

static bool suite_of_distant_tasks(struct suite_random *random)
{
	return has_suite(random, 8, 10, 2, normal);
}

static bool suite_of_one_task(struct suite_random *random)
{
	return has_suite(random, 1, 10, 0, normal);
}

/* --- Looking after every unit ----------------------------------------------------------------- */

/* From the first look at which there may be a word on. */
#define FIRST_LOOK 100
#define UNITS      800

static const struct testing SEQUENTIAL = {
	.alpha = 0.05,
	.is_sequential = true,
	.tuned_units = UNITS / 2,
};

/* The half width in standard errors at each number of units. */
static const double *critical_values(const struct testing *how)
{
	static double fixed[UNITS + 1], sequential[UNITS + 1];
	double *values = how->is_sequential ? sequential : fixed;
	for (int n = FIRST_LOOK; n <= UNITS && values[UNITS] == 0; n++)
		values[n] = testing_critical(how, n, INFINITY);
	return values;
}

/* A unit of one arm. */
typedef double draw_fn(struct suite_random *random, bool is_treatment);

/* Whether the interval has the truth at every look. */
static bool is_never_left(struct suite_random *random, const struct testing *how, draw_fn *draw,
                          double truth)
{
	const double *critical = critical_values(how);
	struct sample arms[2] = {{0}};
	double squares[2] = {0};
	for (int n = 1; n <= UNITS; n++) {
		add(&arms[n % 2], &squares[n % 2], draw(random, n % 2));
		if (n < FIRST_LOOK)
			continue;
		double variance = arms[0].variance / arms[0].n + arms[1].variance / arms[1].n;
		double gap = arms[1].mean - arms[0].mean - truth;
		if (gap * gap > critical[n] * critical[n] * variance)
			return false;
	}
	return true;
}

static double draw_uniform(struct suite_random *random, bool is_treatment)
{
	return (is_treatment ? 0.1 : 0) + uniform(random);
}

static double draw_proportion(struct suite_random *random, bool is_treatment)
{
	return uniform(random) < (is_treatment ? 0.35 : 0.3);
}

static bool sequential_means(struct suite_random *random)
{
	return is_never_left(random, &SEQUENTIAL, draw_uniform, 0.1);
}

static bool sequential_proportions(struct suite_random *random)
{
	return is_never_left(random, &SEQUENTIAL, draw_proportion, 0.05);
}

static bool fixed_proportions_are_left(struct suite_random *random)
{
	return !is_never_left(random, &FIXED, draw_proportion, 0.05);
}

/* --- Allocation ------------------------------------------------------------------------------- */

static bool fair_allocation_alarms(struct suite_random *random)
{
	static const double WEIGHTS[] = {1, 1, 2};
	double units[3] = {0};
	for (int i = 0; i < 400; i++) {
		double u = uniform(random);
		units[u < 0.25 ? 0 : u < 0.5 ? 1 : 2]++;
	}
	return allocation_test(units, WEIGHTS, 3).is_broken;
}

const struct simulation SIMULATIONS[] = {
	{"means, unequal spreads", CLAIM_EXACT, 0.95, means},
	{"means, relative effect", CLAIM_EXACT, 0.95, means_relative},
	{"means, relative to a baseline 3 standard errors from 0", CLAIM_AT_LEAST, 0.95,
         means_near_0},
	{"means, with a pre-period", CLAIM_EXACT, 0.95, means_adjusted},
	{"ratios", CLAIM_EXACT, 0.95, ratios},
	{"quantiles", CLAIM_EXACT, 0.95, quantiles, .is_slow = true},
	{"proportions", CLAIM_EXACT, 0.95, proportions},
	{"proportions, relative effect", CLAIM_EXACT, 0.95, proportions_relative},
	{"proportion of one arm", CLAIM_EXACT, 0.95, proportion_of_one_arm},
	{"pairs of 0 and 1", CLAIM_EXACT, 0.95, pairs_of_0_and_1},
	{"mid-p, false alarms", CLAIM_AT_MOST, 0.05, mid_p_alarms},
	{"pairs in clusters", CLAIM_EXACT, 0.95, clustered_pairs},
	{"suite of 8 tasks, 20 runs each", CLAIM_EXACT, 0.95, suite_of_20_runs, .is_slow = true},
	{"suite of 8 tasks, 5 runs each", CLAIM_EXACT, 0.95, suite_of_5_runs, .is_slow = true},
	{"suite of 26 tasks, 5 runs each", CLAIM_EXACT, 0.95, suite_of_26_tasks, .is_slow = true},
	{"suite of 8 tasks, skewed runs", CLAIM_EXACT, 0.95, suite_of_skewed_runs, .is_slow = true},
	{"suite of 8 tasks far apart", CLAIM_EXACT, 0.95, suite_of_distant_tasks, .is_slow = true},
	{"suite of 1 task, 10 runs", CLAIM_EXACT, 0.95, suite_of_one_task, .is_slow = true},
	{"sequential means, at all of 701 looks", CLAIM_AT_LEAST, 0.95, sequential_means},
	{"sequential proportions, at all of 701 looks", CLAIM_AT_LEAST, 0.95,
         sequential_proportions},
	{"fixed proportions, left at one of 701 looks", CLAIM_AT_LEAST, 0.15,
         fixed_proportions_are_left},
	{"sample ratio mismatch, false alarms", CLAIM_EXACT, 0.001, fair_allocation_alarms,
         .times = 20},
	{0},
};

struct simulated simulation_run(const struct simulation *s, int experiments)
{
	struct suite_random random = suite_random_for((uint64_t)(s - SIMULATIONS) + 1);
	int count = 0;
	experiments *= MAX_OF(s->times, 1);
	for (int i = 0; i < experiments; i++)
		count += s->run(&random);
	double share = (double)count / experiments;
	double error = sqrt(s->nominal * (1 - s->nominal) / experiments);
	bool is_low = share<s->nominal - 3 * error, is_high = share> s->nominal + 3 * error;
	return (struct simulated){
		.experiments = experiments,
		.share = share,
		.error = error,
		.holds = !(is_low && s->claim != CLAIM_AT_MOST) &&
	                 !(is_high && s->claim != CLAIM_AT_LEAST),
	};
}
