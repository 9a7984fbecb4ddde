/* Simulated experiments with known truths: how often the intervals have it. 10,000 each, with fixed
 * seeds, so a test fails always or never. The Monte Carlo error of a coverage of 95 % is then
 * .0022; a test allows three of it. */

#include "base/base.h"
#include "near.h"
#include "statistics/allocation.h"
#include "statistics/distribution.h"
#include "statistics/paired.h"
#include "statistics/proportion.h"
#include "statistics/suite.h"

#include <stdio.h>

#define EXPERIMENTS 10000
#define NOMINAL     0.95
#define TOLERANCE   (3 * 0.0022)

static const struct testing FIXED = {.alpha = 0.05};

static double uniform(struct suite_random *random)
{
	return ((double)(suite_random_next(random) >> 12) + 0.5) / 4503599627370496.0;
}

static double normal(struct suite_random *random)
{
	return normal_quantile(uniform(random));
}

static double successes(struct suite_random *random, int n, double p)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		count += uniform(random) < p;
	return count;
}

static bool has(const struct comparison *c, double truth)
{
	return c->low <= truth && truth <= c->high;
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

static void report(const char *what, double share)
{
	printf("%s: %.4f\n", what, share);
}

static void assert_nominal(const char *what, int covered)
{
	double share = (double)covered / EXPERIMENTS;
	report(what, share);
	assert_true(fabs(share - NOMINAL) <= TOLERANCE);
}

/* Unequal sizes and spreads, and a relative effect beside the absolute one. */
static void means_are_covered(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(1);
	int absolute = 0, relative = 0, near_0 = 0;
	for (int i = 0; i < EXPERIMENTS; i++) {
		struct sample c = normal_sample(&random, 8, 10, 1);
		struct sample t = normal_sample(&random, 15, 11, 4);
		struct comparison r = samples_compare(&c, &t, &FIXED);
		absolute += has(&r, 1);
		relative += r.relative_low <= 0.1 && 0.1 <= r.relative_high;
		/* A baseline three standard errors from 0: an interval without bounds has the
		 * truth. */
		c = normal_sample(&random, 100, 0.3, 1);
		t = normal_sample(&random, 100, 0.45, 1);
		r = samples_compare(&c, &t, &FIXED);
		near_0 += !(r.relative_low > 0.5) && !(r.relative_high < 0.5);
	}
	assert_nominal("means", absolute);
	assert_nominal("means, relative", relative);
	/* Where Fieller's set has no bounds it may still lack some values, the answer lacks none:
	 * it has the truth too often, never too seldom. */
	report("means, relative to 3 standard errors", (double)near_0 / EXPERIMENTS);
	assert_true(near_0 >= (NOMINAL - TOLERANCE) * EXPERIMENTS);
}

/* Exact coverage of a score interval goes up and down with the proportions; this is its mean over
 * many of them. */
static void proportions_are_covered(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(2);
	int absolute = 0, relative = 0, one = 0;
	for (int i = 0; i < EXPERIMENTS; i++) {
		double p_c = 0.1 + 0.8 * uniform(&random), p_t = 0.1 + 0.8 * uniform(&random);
		struct proportion c = {40, successes(&random, 40, p_c)};
		struct proportion t = {60, successes(&random, 60, p_t)};
		struct comparison r = proportions_compare(&c, &t, &FIXED);
		double low, high, lift = p_t / p_c - 1;
		absolute += has(&r, p_t - p_c);
		relative += !(r.relative_low > lift) && !(r.relative_high < lift);
		proportion_interval(&c, 0.05, &low, &high);
		one += low <= p_c && p_c <= high;
	}
	assert_nominal("proportions", absolute);
	assert_nominal("proportions, relative", relative);
	assert_nominal("proportion of one arm", one);
}

static struct discordance simulated_pairs(struct suite_random *random, int n, double gain,
                                          double loss)
{
	struct discordance pairs = {.n = n};
	for (int i = 0; i < n; i++) {
		double u = uniform(random);
		pairs.treatment += u < gain;
		pairs.control += u >= gain && u < gain + loss;
	}
	return pairs;
}

/* McNemar's mid-p holds its level; being discrete, it does not use all of it. */
static void pairs_are_covered(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(3);
	int covered = 0, alarms = 0;
	for (int i = 0; i < EXPERIMENTS; i++) {
		double gain = 0.4 * uniform(&random), loss = 0.4 * uniform(&random);
		struct discordance pairs = simulated_pairs(&random, 60, gain, loss);
		struct comparison r = discordance_compare(&pairs, &FIXED);
		covered += has(&r, gain - loss);
		pairs = simulated_pairs(&random, 60, gain, gain);
		alarms += discordance_compare(&pairs, &FIXED).p <= 0.05;
	}
	assert_nominal("pairs of 0 and 1", covered);
	report("mid-p, false positives", (double)alarms / EXPERIMENTS);
	assert_true(alarms <= (0.05 + TOLERANCE) * EXPERIMENTS);
}

/* Five examples to a cluster that share most of what makes them differ. */
static void clusters_are_covered(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(4);
	struct example_pair pairs[150];
	double sums[60];
	int covered = 0;
	for (int i = 0; i < EXPERIMENTS; i++) {
		double shared = 0;
		for (size_t e = 0; e < ARRAY_LEN(pairs); e++) {
			shared = e % 5 ? shared : normal(&random);
			double c = normal(&random), d = 0.3 + shared + normal(&random);
			pairs[e] = (struct example_pair){c, c + d, e / 5};
		}
		struct comparison r = pairs_compare(pairs, ARRAY_LEN(pairs), 30, sums, &FIXED);
		covered += has(&r, 0.3);
	}
	assert_nominal("clustered pairs", covered);
}

/* Experiments that are looked at after every unit, from the first at which there may be a word
 * on. */
#define FIRST_LOOK 100
#define UNITS      800

/* The half width in standard errors at each number of units. */
static void critical_values(const struct testing *how, double *ret_values)
{
	for (int n = FIRST_LOOK; n <= UNITS; n++)
		ret_values[n] = testing_critical(how, n, INFINITY);
}

/* Whether the interval of an experiment ever leaves the truth. `draw` gives a unit's value. */
static bool is_ever_left(struct suite_random *random, const double *critical,
                         double (*draw)(struct suite_random *, bool), double truth)
{
	struct sample arms[2] = {{0}};
	double squares[2] = {0};
	for (int n = 1; n <= UNITS; n++) {
		add(&arms[n % 2], &squares[n % 2], draw(random, n % 2));
		if (n < FIRST_LOOK)
			continue;
		double variance = arms[0].variance / arms[0].n + arms[1].variance / arms[1].n;
		double gap = arms[1].mean - arms[0].mean - truth;
		if (gap * gap > critical[n] * critical[n] * variance)
			return true;
	}
	return false;
}

static double draw_uniform(struct suite_random *random, bool is_treatment)
{
	return (is_treatment ? 0.1 : 0) + uniform(random);
}

static double draw_proportion(struct suite_random *random, bool is_treatment)
{
	return uniform(random) < (is_treatment ? 0.35 : 0.3);
}

static double covered_at_every_look(const struct testing *how, uint64_t seed,
                                    double (*draw)(struct suite_random *, bool), double truth)
{
	struct suite_random random = suite_random_for(seed);
	double critical[UNITS + 1];
	int covered = 0;
	critical_values(how, critical);
	for (int i = 0; i < EXPERIMENTS; i++)
		covered += !is_ever_left(&random, critical, draw, truth);
	return (double)covered / EXPERIMENTS;
}

static void sequential_intervals_hold_at_every_look(void **state)
{
	(void)state;
	static const struct testing HOW = {.alpha = 0.05,
	                                   .is_sequential = true,
	                                   .tuned_units = UNITS / 2};
	double means = covered_at_every_look(&HOW, 5, draw_uniform, 0.1);
	double proportions = covered_at_every_look(&HOW, 6, draw_proportion, 0.05);
	report("sequential means at 701 looks", means);
	report("sequential proportions at 701 looks", proportions);
	assert_true(means >= NOMINAL - TOLERANCE && proportions >= NOMINAL - TOLERANCE);
	/* What the sequence is for. */
	double peeked = covered_at_every_look(&FIXED, 6, draw_proportion, 0.05);
	report("fixed proportions at 701 looks", peeked);
	assert_true(peeked < 0.85);
}

static void a_fair_allocation_is_seldom_called_broken(void **state)
{
	(void)state;
	struct suite_random random = suite_random_for(7);
	static const double WEIGHTS[] = {1, 1};
	int alarms = 0;
	for (int i = 0; i < EXPERIMENTS; i++) {
		double units = successes(&random, 400, 0.5);
		alarms += allocation_test((double[]){units, 400 - units}, WEIGHTS, 2).is_broken;
	}
	report("sample ratio mismatch, false positives", (double)alarms / EXPERIMENTS);
	/* .001, and three standard errors of its share in 10,000 */
	assert_in_range(alarms, 1, 10 + 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_are_covered),
		cmocka_unit_test(proportions_are_covered),
		cmocka_unit_test(pairs_are_covered),
		cmocka_unit_test(clusters_are_covered),
		cmocka_unit_test(sequential_intervals_hold_at_every_look),
		cmocka_unit_test(a_fair_allocation_is_seldom_called_broken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
