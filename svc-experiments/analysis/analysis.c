#include "analysis/analysis.h"

#include "analysis/warning.h"
#include "statistics/multiplicity.h"
#include "statistics/sample_size.h"

#include <math.h>
#include <string.h>

/* GrowthBook's and Waudby-Smith's asymptotics begin about here. */
#define SEQUENTIAL_UNITS_MIN  100
#define SEQUENTIAL_EVENTS_MIN 10

/* N0 of a sequential test where no size is planned. */
#define TUNED_UNITS 5000

static bool is_sequential(const struct plan *plan, enum analysis_source source)
{
	if (source == SOURCE_ROWS)
		return false;
	return !plan->mode || strcmp(plan->mode, "sequential") == 0;
}

struct analysis *analysis_new(struct arena *arena, const struct plan *plan,
                              enum analysis_source source, const struct result_facts *facts)
{
	struct analysis *a = arena_alloc(arena, sizeof(*a));
	*a = (struct analysis){
		.arena = arena,
		.plan = plan,
		.source = source,
		.facts = *facts,
		.testing = {.alpha = plan->alpha,
	                    .is_sequential = is_sequential(plan, source),
	                    .tuned_units = plan->planned_n > 0 ? 2 * plan->planned_n : TUNED_UNITS},
		.allocation = {.chi_square = NAN, .p = NAN},
		.replicates = NAN,
		.metrics = arena_alloc(arena, plan->metric_count * sizeof(*a->metrics)),
		.warnings_tail = &a->warnings,
		.metric = -1,
		.arm = -1,
	};
	for (size_t i = 0; i < PLAN_ARMS_MAX; i++)
		a->units[i] = NAN;
	return a;
}

struct arm_figures arm_figures_of(double n, double mean)
{
	return (struct arm_figures){n, mean, NAN, NAN, NAN, NAN, NAN, NAN};
}

struct pair_figures pair_untested(const char *invalid)
{
	return (struct pair_figures){
		.plain = COMPARISON_NONE,
		.p_adjusted = NAN,
		.minimum_detectable = NAN,
		.needed_n = NAN,
		.improvement = NAN,
		.invalid = invalid,
	};
}

void analysis_complete_pair(const struct analysis *a, const struct planned_metric *metric,
                            struct pair_figures *pair, double baseline, double units)
{
	const struct comparison *c = &pair->plain;
	double effect = metric->min_effect * fabs(baseline);
	if (!pair->invalid && isnan(c->p))
		pair->invalid = "the results do not vary";
	pair->p_adjusted = pair->invalid ? NAN : c->p;
	pair->minimum_detectable = minimum_detectable(c, a->plan->power);
	pair->needed_n = needed_units(c, units, effect, a->plan->power, &a->testing);
}

/* Of the most units that any metric has in each arm, where the results do not give the units. */
static void test_allocation(struct analysis *a)
{
	double weights[PLAN_ARMS_MAX], units[PLAN_ARMS_MAX];
	if (a->source != SOURCE_SUMS)
		return;
	for (size_t arm = 0; arm < a->plan->arm_count; arm++) {
		weights[arm] = a->plan->arms[arm].weight;
		units[arm] = a->units[arm];
		for (size_t i = 0; i < a->plan->metric_count && isnan(a->units[arm]); i++)
			units[arm] = fmax(units[arm], a->metrics[i].arms[arm].n);
		if (isnan(units[arm]))
			units[arm] = 0;
	}
	memcpy(a->units, units, a->plan->arm_count * sizeof(*units));
	a->allocation = allocation_test(units, weights, a->plan->arm_count);
}

/* Whether the planned runs can never be there all at once. */
static bool plans_too_many(const struct analysis *a)
{
	double planned = a->plan->planned_n * (double)a->plan->arm_count;
	return a->unit == UNIT_RUN && a->facts.kept_runs > 0 && planned > a->facts.kept_runs;
}

/* What must be known of each pair before it may be looked at. */
static void check_pair(struct analysis *a, const struct planned_metric *metric,
                       const struct arm_figures *c, const struct arm_figures *t,
                       struct pair_figures *pair)
{
	double missing = 0;
	if (a->allocation.is_broken)
		pair->invalid = "the units were not assigned as planned";
	else if (a->facts.missing_runs > 0)
		pair->invalid = "runs have failed or were cancelled, whose results are missing";
	else if (plans_too_many(a))
		pair->invalid = "more runs are planned than are kept";
	if (pair->invalid)
		pair->p_adjusted = NAN;
	if (a->source != SOURCE_SUMS && !a->facts.is_repeated)
		return;
	if (a->testing.is_sequential)
		missing = SEQUENTIAL_UNITS_MIN - (c->n + t->n);
	else
		missing = fmax(a->plan->planned_n - c->n, 0) + fmax(a->plan->planned_n - t->n, 0);
	pair->missing_units = fmax(missing, 0);
	pair->is_early = missing > 0;
	if (a->testing.is_sequential && metric->kind == KIND_PROPORTION)
		pair->is_early |= fmin(fmin(c->events, c->non_events),
		                       fmin(t->events, t->non_events)) < SEQUENTIAL_EVENTS_MIN;
}

static bool is_treatment(const struct analysis *a, size_t arm)
{
	return arm != a->plan->control;
}

static void check_pairs(struct analysis *a)
{
	for (size_t i = 0; i < a->plan->metric_count; i++) {
		struct metric_figures *m = &a->metrics[i];
		for (size_t arm = 0; m->is_present && arm < a->plan->arm_count; arm++)
			if (is_treatment(a, arm))
				check_pair(a, &a->plan->metrics[i], &m->arms[a->plan->control],
				           &m->arms[arm], &m->pairs[arm]);
	}
}

/* Adjust the p of all treatments in all metrics of a role. */
static void adjust_role(struct analysis *a, enum metric_role role,
                        void (*adjust)(double *p, size_t count))
{
	double p[MULTIPLICITY_MAX], *places[MULTIPLICITY_MAX];
	size_t count = 0;
	for (size_t i = 0; i < a->plan->metric_count; i++)
		for (size_t arm = 0; arm < a->plan->arm_count; arm++)
			if (a->plan->metrics[i].role == role && a->metrics[i].is_present &&
			    is_treatment(a, arm)) {
				places[count] = &a->metrics[i].pairs[arm].p_adjusted;
				p[count] = *places[count];
				count++;
			}
	adjust(p, count);
	for (size_t i = 0; i < count; i++)
		*places[i] = p[i];
}

/* The primary comparison with the smallest adjusted p speaks; one without a test only if there is
 * no other. */
static void choose(struct analysis *a)
{
	double smallest = INFINITY;
	for (size_t i = 0; i < a->plan->metric_count; i++)
		for (size_t arm = 0; arm < a->plan->arm_count; arm++) {
			if (a->plan->metrics[i].role != ROLE_PRIMARY || !is_treatment(a, arm) ||
			    !a->metrics[i].is_present)
				continue;
			double p = a->metrics[i].pairs[arm].p_adjusted;
			if (a->metric >= 0 && !(p < smallest))
				continue;
			smallest = isnan(p) ? INFINITY : p;
			a->metric = (int)i;
			a->arm = (int)arm;
		}
}

int analysis_guardrail(const struct analysis *a, size_t metric, size_t arm)
{
	const struct planned_metric *m = &a->plan->metrics[metric];
	const struct pair_figures *pair = &a->metrics[metric].pairs[arm];
	if (m->role != ROLE_GUARDRAIL || !a->metrics[metric].is_present || pair->invalid)
		return -1;
	return (int)guardrail_of(&pair->plain, m->max_harm, m->is_lower_better);
}

bool analysis_lacks_guardrail(const struct analysis *a, size_t metric)
{
	return a->metric >= 0 && a->plan->metrics[metric].role == ROLE_GUARDRAIL &&
	       analysis_guardrail(a, metric, (size_t)a->arm) < 0;
}

/* What other arms do to the guardrails is no reason against the one that speaks. */
static enum guardrail worst_guardrail(const struct analysis *a)
{
	int worst = GUARDRAIL_SAFE;
	for (size_t i = 0; i < a->plan->metric_count && a->metric >= 0; i++)
		worst = MAX_OF(worst, analysis_lacks_guardrail(a, i)
		                              ? GUARDRAIL_AT_RISK
		                              : analysis_guardrail(a, i, (size_t)a->arm));
	return (enum guardrail)worst;
}

static enum verdict decide(const struct analysis *a)
{
	if (a->metric < 0)
		return VERDICT_NO_DATA;
	const struct planned_metric *metric = &a->plan->metrics[a->metric];
	const struct pair_figures *pair = &a->metrics[a->metric].pairs[a->arm];
	if (pair->invalid)
		return VERDICT_INVALID;
	return verdict_of(&(struct verdict_question){.comparison = &pair->plain,
	                                             .p_adjusted = pair->p_adjusted,
	                                             .alpha = a->plan->alpha,
	                                             .min_effect = metric->min_effect,
	                                             .is_lower_better = metric->is_lower_better,
	                                             .is_early = pair->is_early});
}

/* "12.3 %" or "1110 %" of a relative effect, or the absolute one where that has no bounds. Three
 * digits would give a thousand an exponent. */
static const char *amount(struct arena *arena, double relative, double absolute, bool is_relative)
{
	double percent = 100 * relative, size = fabs(percent);
	if (!is_relative)
		return arena_printf(arena, "%.4g", absolute);
	return arena_printf(arena, size >= 999.5 && size < 1e6 ? "%.0f %%" : "%.3g %%", percent);
}

static const char *early_text(struct analysis *a, const struct pair_figures *pair)
{
	if (pair->missing_units > 0)
		return arena_printf(a->arena, "Too early: %.0f more units.", pair->missing_units);
	return arena_printf(a->arena, "Too early: under %d successes or failures in an arm.",
	                    SEQUENTIAL_EVENTS_MIN);
}

static bool has_relative_bounds(const struct comparison *c)
{
	return !isnan(c->relative_low) && !isnan(c->relative_high);
}

/* "20 % better (10 % to 30 %), not explained by chance.": the word tells the direction, so size
 * and bounds of a fall are told as sizes too. */
static const char *direction_text(struct arena *arena, const struct comparison *c, const char *word)
{
	bool is_relative = has_relative_bounds(c), is_fall = c->effect < 0;
	int sign = is_fall ? -1 : 1;
	const char *low = amount(arena, sign * c->relative_low, sign * c->low, is_relative);
	const char *high = amount(arena, sign * c->relative_high, sign * c->high, is_relative);
	return arena_printf(arena, "%s %s (%s to %s), not explained by chance.",
	                    amount(arena, fabs(c->relative), fabs(c->effect), is_relative), word,
	                    is_fall ? high : low, is_fall ? low : high);
}

static const char *unclear_text(struct arena *arena, const struct comparison *c)
{
	bool is_relative = has_relative_bounds(c);
	return arena_printf(arena, "Between %s and %s; both are possible.",
	                    amount(arena, c->relative_low, c->low, is_relative),
	                    amount(arena, c->relative_high, c->high, is_relative));
}

/* Of which metric and arm it is: "accuracy of short: ", where there are several of them. */
static const char *subject(const struct analysis *a)
{
	const char *metric = a->plan->metrics[a->metric].key, *arm = a->plan->arms[a->arm].key;
	bool has_arms = a->plan->arm_count > 2;
	size_t primary = 0;
	for (size_t i = 0; i < a->plan->metric_count; i++)
		primary += a->plan->metrics[i].role == ROLE_PRIMARY && a->metrics[i].is_present;
	if (primary <= 1)
		return has_arms ? arena_printf(a->arena, "%s: ", arm) : "";
	return has_arms ? arena_printf(a->arena, "%s of %s: ", metric, arm)
	                : arena_printf(a->arena, "%s: ", metric);
}

/* What the comparison that speaks says. */
static const char *finding(struct analysis *a, const struct pair_figures *pair)
{
	switch (a->verdict) {
	case VERDICT_BETTER:
	case VERDICT_WORSE:
		return direction_text(a->arena, &pair->plain, verdict_name(a->verdict));
	case VERDICT_EQUAL:
		return "Any difference is below what matters.";
	case VERDICT_UNCLEAR:
		return unclear_text(a->arena, &pair->plain);
	default:
		return early_text(a, pair);
	}
}

/* The verdict as a sentence. */
static const char *sentence(struct analysis *a)
{
	if (a->verdict == VERDICT_NO_DATA)
		return "There is no valid test: no primary metric has results.";
	const struct pair_figures *pair = &a->metrics[a->metric].pairs[a->arm];
	if (a->verdict == VERDICT_INVALID)
		return arena_printf(a->arena, "There is no valid test: %s.", pair->invalid);
	return arena_printf(a->arena, "%s%s", subject(a), finding(a, pair));
}

void analysis_refuse(struct analysis *a, const char *why)
{
	a->verdict = VERDICT_INVALID;
	a->text = arena_printf(a->arena, "There is no valid test: %s.", why);
}

void analysis_conclude(struct analysis *a, yyjson_val *previous)
{
	test_allocation(a);
	check_pairs(a);
	adjust_role(a, ROLE_PRIMARY, holm_adjust);
	adjust_role(a, ROLE_SECONDARY, benjamini_hochberg_adjust);
	choose(a);
	a->verdict = decide(a);
	a->worst = worst_guardrail(a);
	a->text = sentence(a);
	warnings_add(a, previous);
}
