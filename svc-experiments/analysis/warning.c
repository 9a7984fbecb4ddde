#include "analysis/warning.h"

#include "statistics/distribution.h"

#include <math.h>
#include <string.h>

#define SUSPICIOUS_EFFECT (0.5 - 1e-12) /* 0.3 is less than 0.2 + 0.1 */
#define FEW_EVENTS        5
#define FEW_UNITS         30

void warning_add(struct analysis *a, const char *code, const char *metric, const char *text)
{
	struct warning *w = arena_alloc(a->arena, sizeof(*w));
	*w = (struct warning){.code = code, .metric = metric, .text = text};
	*a->warnings_tail = w;
	a->warnings_tail = &w->next;
}

/* What can be said of a comparison. */
struct case_of {
	const struct analysis *analysis;
	const struct planned_metric *metric;
	const struct arm_figures *control, *treatment;
	const struct pair_figures *pair;
};

static bool is_suspicious(const struct case_of *x)
{
	return fabs(x->pair->plain.relative) >= SUSPICIOUS_EFFECT;
}

static bool is_below_min_effect(const struct case_of *x)
{
	return x->pair->p_adjusted <= x->analysis->plan->alpha &&
	       fabs(x->pair->plain.relative) < x->metric->min_effect;
}

static bool has_few_events(const struct case_of *x)
{
	const struct arm_figures *c = x->control, *t = x->treatment;
	if (x->analysis->source != SOURCE_SUMS)
		return false;
	if (x->metric->kind == KIND_PROPORTION)
		return fmin(fmin(c->events, c->non_events), fmin(t->events, t->non_events)) <
		       FEW_EVENTS;
	return fmin(c->n, t->n) < FEW_UNITS;
}

static bool is_near_zero(const struct case_of *x)
{
	return x->pair->plain.se > 0 && isnan(x->pair->plain.relative_low);
}

/* A fixed test of live traffic that is looked at before all units are there. */
static bool is_early_look(const struct case_of *x)
{
	return !x->analysis->testing.is_sequential && x->pair->is_early;
}

static const struct {
	const char *code;
	bool (*is_so)(const struct case_of *x);
	const char *text;
} COMPARISON_WARNINGS[] = {
	{"suspicious_effect", is_suspicious,
         "The effect is 50 % or more; look for an error in how it is measured."},
	{"below_min_effect", is_below_min_effect,
         "The effect is not explained by chance, and smaller than what matters."},
	{"few_events", has_few_events,
         "An arm has under 5 successes or failures, or under 30 units."},
	{"baseline_near_zero", is_near_zero,
         "The control's mean is too near to 0 for bounds of a relative effect."},
	{"early_look", is_early_look,
         "The planned number of units is not reached, and the test allows one look only."},
};

static void add_of_pair(struct analysis *a, const struct case_of *x, bool *is_told)
{
	for (size_t i = 0; i < ARRAY_LEN(COMPARISON_WARNINGS); i++)
		if (!is_told[i] && COMPARISON_WARNINGS[i].is_so(x)) {
			warning_add(a, COMPARISON_WARNINGS[i].code, x->metric->key,
			            COMPARISON_WARNINGS[i].text);
			is_told[i] = true;
		}
}

/* Each warning once for a metric, however many treatments have it. */
static void add_of_metric(struct analysis *a, size_t metric)
{
	const struct metric_figures *m = &a->metrics[metric];
	bool is_told[ARRAY_LEN(COMPARISON_WARNINGS)] = {false};
	for (size_t arm = 0; m->is_present && arm < a->plan->arm_count; arm++) {
		struct case_of x = {a, &a->plan->metrics[metric], &m->arms[a->plan->control],
		                    &m->arms[arm], &m->pairs[arm]};
		if (arm != a->plan->control && !x.pair->invalid)
			add_of_pair(a, &x, is_told);
	}
}

/* The largest n of an arm in the output of earlier results. */
static double former_n(yyjson_val *previous, const char *metric, const char *arm)
{
	size_t index, count, place, arms;
	yyjson_val *m, *one;
	yyjson_arr_foreach (json_get(previous, "metrics"), index, count, m) {
		if (strcmp(json_get_text(m, "key"), metric) != 0)
			continue;
		yyjson_arr_foreach (json_get(m, "arms"), place, arms, one)
			if (strcmp(json_get_text(one, "arm"), arm) == 0)
				return json_get_float(one, "n", 0);
	}
	return 0;
}

/* Sums are those of the whole experiment so far, so no n falls. */
static void add_shrunk(struct analysis *a, size_t metric, yyjson_val *previous)
{
	const struct plan *plan = a->plan;
	const char *key = plan->metrics[metric].key;
	bool has_shrunk = false;
	if (a->source != SOURCE_SUMS || !a->metrics[metric].is_present)
		return;
	for (size_t arm = 0; arm < plan->arm_count; arm++)
		has_shrunk |= a->metrics[metric].arms[arm].n <
		              former_n(previous, key, plan->arms[arm].key);
	if (has_shrunk)
		warning_add(
			a, "shrunk", key,
			"An arm has fewer units than in the results before; sums are those of the "
			"whole experiment so far.");
}

/* What the results say besides their figures. */
static void add_of_facts(struct analysis *a)
{
	const struct result_facts *facts = &a->facts;
	bool has_end = a->plan->planned_n > 0 && a->unit == UNIT_RUN;
	if (facts->missing_runs > 0)
		warning_add(a, "missing_runs", NULL,
		            "Runs have failed by themselves, or were cancelled while they ran; "
		            "what they "
		            "would have shown is missing.");
	if (facts->repeated_runs > 0)
		warning_add(a, "repeated_runs", NULL,
		            "Runs have failed, and others of their seeds count in their place; how "
		            "often runs of an arm fail is not compared.");
	if (facts->older_runs > 0)
		warning_add(a, "older_runs", NULL,
		            "The runs have too many examples together; the oldest were left out.");
	if (facts->is_repeated && !has_end)
		warning_add(a, "early_look", NULL,
		            "The results are looked at as each run ends, and the test allows one "
		            "look only; plan the number of runs.");
	if (facts->has_estimated_cost && plan_metric(a->plan, "cost_usd") >= 0)
		warning_add(a, "estimated_cost", "cost_usd",
		            "Costs of runs were estimated, not told.");
}

void warnings_add(struct analysis *a, yyjson_val *previous)
{
	add_of_facts(a);
	if (a->allocation.is_broken)
		warning_add(a, "sample_ratio_mismatch", NULL,
		            "The arms have other shares of the units than planned (p < 0.001); no "
		            "comparison is valid until the cause is found.");
	if (a->dropped_examples > 0.05 * a->examples)
		warning_add(a, "dropped_examples", NULL,
		            "Over 5 % of the examples are in one arm only, and were left out.");
	for (size_t i = 0; i < a->plan->metric_count; i++) {
		add_of_metric(a, i);
		add_shrunk(a, i, previous);
		if (analysis_lacks_guardrail(a, i))
			warning_add(a, "guardrail_untested", a->plan->metrics[i].key,
			            "There is no valid test of this guardrail, which counts as "
			            "at risk.");
	}
}
