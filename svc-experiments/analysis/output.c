#include "analysis/output.h"

#include "json/csv.h"

#include <math.h>
#include <string.h>

/* An object that is built. */
struct object {
	yyjson_mut_doc *doc;
	yyjson_mut_val *value;
};

static struct object object_new(yyjson_mut_doc *doc)
{
	return (struct object){doc, yyjson_mut_obj(doc)};
}

/* A number with all of its digits; null: it is not finite. */
static void add(struct object o, const char *name, double value)
{
	yyjson_mut_obj_add_val(o.doc, o.value, name,
	                       isfinite(value) ? yyjson_mut_real(o.doc, value)
	                                       : yyjson_mut_null(o.doc));
}

/* A count, which is whole. */
static void add_count(struct object o, const char *name, double value)
{
	if (isfinite(value) && value == floor(value) && fabs(value) < 9e15)
		yyjson_mut_obj_add_int(o.doc, o.value, name, (int64_t)value);
	else
		add(o, name, value);
}

static void add_text(struct object o, const char *name, const char *text)
{
	json_add_text(o.doc, o.value, name, text);
}

static void add_comparison(struct object o, const struct comparison *c)
{
	add(o, "effect", c->effect);
	add(o, "low", c->low);
	add(o, "high", c->high);
	add(o, "p", c->p);
	add(o, "relative", c->relative);
	add(o, "relative_low", c->relative_low);
	add(o, "relative_high", c->relative_high);
}

static const char *guardrail_word(int guardrail)
{
	return guardrail < 0 ? NULL : guardrail_name((enum guardrail)guardrail);
}

static yyjson_mut_val *pair_json(const struct analysis *a, yyjson_mut_doc *doc, size_t metric,
                                 size_t arm)
{
	const struct pair_figures *pair = &a->metrics[metric].pairs[arm];
	struct object o = object_new(doc), adjusted = object_new(doc);
	add_text(o, "arm", a->plan->arms[arm].key);
	add_comparison(o, &pair->plain);
	add(o, "p_adjusted", pair->p_adjusted);
	add(o, "minimum_detectable", pair->minimum_detectable);
	add_count(o, "needed_n", pair->needed_n);
	add(o, "improvement", pair->improvement);
	add_text(o, "invalid", pair->invalid);
	add_text(o, "guardrail", guardrail_word(analysis_guardrail(a, metric, arm)));
	if (pair->has_adjusted)
		add_comparison(adjusted, &pair->adjusted);
	yyjson_mut_obj_add_val(doc, o.value, "adjusted",
	                       pair->has_adjusted ? adjusted.value : yyjson_mut_null(doc));
	return o.value;
}

static yyjson_mut_val *arm_json(const struct analysis *a, yyjson_mut_doc *doc, size_t arm,
                                const struct arm_figures *figures)
{
	struct object o = object_new(doc), spread = object_new(doc);
	add_text(o, "arm", a->plan->arms[arm].key);
	add_count(o, "n", figures->n);
	add(o, "mean", figures->mean);
	add(o, "low", figures->low);
	add(o, "high", figures->high);
	if (!isnan(figures->smallest)) {
		add(spread, "min", figures->smallest);
		add(spread, "max", figures->largest);
		yyjson_mut_obj_add_val(doc, o.value, "spread", spread.value);
	}
	return o.value;
}

/* What a guardrail says of the treatment that it says the worst of; null: it is none. */
static const char *guardrail_text(const struct analysis *a, size_t metric)
{
	int worst = -1;
	for (size_t arm = 0; arm < a->plan->arm_count; arm++)
		if (arm != a->plan->control)
			worst = MAX_OF(worst, analysis_guardrail(a, metric, arm));
	return guardrail_word(worst);
}

static yyjson_mut_val *metric_json(const struct analysis *a, yyjson_mut_doc *doc, size_t metric)
{
	const struct planned_metric *m = &a->plan->metrics[metric];
	const struct metric_figures *figures = &a->metrics[metric];
	struct object o = object_new(doc);
	yyjson_mut_val *arms = yyjson_mut_arr(doc), *pairs = yyjson_mut_arr(doc);
	for (size_t arm = 0; arm < a->plan->arm_count; arm++) {
		yyjson_mut_arr_add_val(arms, arm_json(a, doc, arm, &figures->arms[arm]));
		if (arm != a->plan->control)
			yyjson_mut_arr_add_val(pairs, pair_json(a, doc, metric, arm));
	}
	add_text(o, "key", m->key);
	add_text(o, "kind", METRIC_KINDS[m->kind]);
	add_text(o, "goal", METRIC_GOALS[m->is_lower_better]);
	add_text(o, "role", METRIC_ROLES[m->role]);
	yyjson_mut_obj_add_val(doc, o.value, "arms", arms);
	yyjson_mut_obj_add_val(doc, o.value, "comparisons", pairs);
	add_text(o, "guardrail", guardrail_text(a, metric));
	return o.value;
}

static yyjson_mut_val *allocation_json(const struct analysis *a, yyjson_mut_doc *doc)
{
	struct object o = object_new(doc);
	add(o, "chi_square", a->allocation.chi_square);
	add_count(o, "df", a->allocation.degrees);
	add(o, "p", a->allocation.p);
	yyjson_mut_obj_add_bool(doc, o.value, "ok", !a->allocation.is_broken);
	return o.value;
}

static yyjson_mut_val *units_json(const struct analysis *a, yyjson_mut_doc *doc)
{
	struct object o = object_new(doc);
	for (size_t arm = 0; arm < a->plan->arm_count; arm++)
		add_count(o, a->plan->arms[arm].key, a->units[arm]);
	return o.value;
}

static yyjson_mut_val *warnings_json(const struct analysis *a, yyjson_mut_doc *doc)
{
	yyjson_mut_val *warnings = yyjson_mut_arr(doc);
	for (const struct warning *w = a->warnings; w; w = w->next) {
		struct object o = object_new(doc);
		add_text(o, "code", w->code);
		add_text(o, "metric", w->metric);
		add_text(o, "text", w->text);
		yyjson_mut_arr_add_val(warnings, o.value);
	}
	return warnings;
}

static void add_conclusion(const struct analysis *a, struct object o)
{
	const struct comparison *c =
		a->metric < 0 ? NULL : &a->metrics[a->metric].pairs[a->arm].plain;
	add_text(o, "metric", a->metric < 0 ? NULL : a->plan->metrics[a->metric].key);
	add_text(o, "arm", a->metric < 0 ? NULL : a->plan->arms[a->arm].key);
	add(o, "observed_delta", c ? c->effect : NAN);
	add(o, "delta_relative", c ? c->relative : NAN);
	add_text(o, "delta_confidence", verdict_confidence(a->verdict));
	add_text(o, "verdict", verdict_name(a->verdict));
	add_text(o, "text", a->text);
	add_text(o, "advice", verdict_advice(a->verdict, a->worst, !a->testing.is_sequential));
	add_count(o, "dropped_examples", a->dropped_examples);
	add_count(o, "missing_runs", a->facts.missing_runs);
	add_count(o, "left_out_runs", a->facts.left_out_runs);
	add_text(o, "template_digest", a->facts.template_digest);
	add_count(o, "replicates", a->replicates);
}

static const char *const UNITS[] = {"unit", "example", "run"};

const char *analysis_json(const struct analysis *a, const char *source)
{
	yyjson_mut_doc *doc = json_doc_new(a->arena);
	struct object o = object_new(doc);
	yyjson_mut_val *metrics = yyjson_mut_arr(doc);
	add_text(o, "source", source);
	add_text(o, "unit", UNITS[a->unit]);
	add_text(o, "mode", a->testing.is_sequential ? "sequential" : "fixed");
	add(o, "alpha", a->plan->alpha);
	yyjson_mut_obj_add_val(doc, o.value, "units", units_json(a, doc));
	yyjson_mut_obj_add_val(doc, o.value, "allocation",
	                       a->source == SOURCE_SUMS ? allocation_json(a, doc)
	                                                : yyjson_mut_null(doc));
	for (size_t i = 0; i < a->plan->metric_count; i++)
		if (a->metrics[i].is_present)
			yyjson_mut_arr_add_val(metrics, metric_json(a, doc, i));
	yyjson_mut_obj_add_val(doc, o.value, "metrics", metrics);
	add_conclusion(a, o);
	yyjson_mut_obj_add_val(doc, o.value, "warnings", warnings_json(a, doc));
	return json_write_mut(a->arena, o.value, NULL);
}

/* Columns of the CSV: those of the analysis, of the metric, of the arm, and of the comparison. */
static const char *const ANALYSIS_COLUMNS[] = {"experiment_id", "analysis_id", "at", "source"};
static const char *const METRIC_COLUMNS[] = {"key", "kind", "goal", "role"};
static const char *const ARM_COLUMNS[] = {"arm", "n", "mean", "low", "high"};
static const struct {
	const char *column, *member;
} PAIR_COLUMNS[] = {
	{"effect", "effect"},
	{"effect_low", "low"},
	{"effect_high", "high"},
	{"p", "p"},
	{"p_adjusted", "p_adjusted"},
	{"relative", "relative"},
	{"relative_low", "relative_low"},
	{"relative_high", "relative_high"},
	{"minimum_detectable", "minimum_detectable"},
	{"needed_n", "needed_n"},
};

static void csv_header(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(ANALYSIS_COLUMNS); i++)
		csv_text(out, ANALYSIS_COLUMNS[i], i == 0);
	for (size_t i = 0; i < ARRAY_LEN(METRIC_COLUMNS); i++)
		csv_text(out, i == 0 ? "metric" : METRIC_COLUMNS[i], false);
	for (size_t i = 0; i < ARRAY_LEN(ARM_COLUMNS); i++)
		csv_text(out, ARM_COLUMNS[i], false);
	for (size_t i = 0; i < ARRAY_LEN(PAIR_COLUMNS); i++)
		csv_text(out, PAIR_COLUMNS[i].column, false);
	csv_line_end(out);
}

/* The comparison of an arm; NULL: it is the control. */
static yyjson_val *comparison_of(yyjson_val *metric, const char *arm)
{
	size_t index, count;
	yyjson_val *pair;
	yyjson_arr_foreach (json_get(metric, "comparisons"), index, count, pair)
		if (strcmp(json_get_text(pair, "arm"), arm) == 0)
			return pair;
	return NULL;
}

static void csv_line(struct buf *out, yyjson_val *analysis, yyjson_val *metric, yyjson_val *arm)
{
	yyjson_val *pair = comparison_of(metric, json_get_text(arm, "arm"));
	for (size_t i = 0; i < ARRAY_LEN(ANALYSIS_COLUMNS); i++)
		csv_cell(out, json_get(analysis, ANALYSIS_COLUMNS[i]), i == 0);
	for (size_t i = 0; i < ARRAY_LEN(METRIC_COLUMNS); i++)
		csv_cell(out, json_get(metric, METRIC_COLUMNS[i]), false);
	for (size_t i = 0; i < ARRAY_LEN(ARM_COLUMNS); i++)
		csv_cell(out, json_get(arm, ARM_COLUMNS[i]), false);
	for (size_t i = 0; i < ARRAY_LEN(PAIR_COLUMNS); i++)
		csv_cell(out, json_get(pair, PAIR_COLUMNS[i].member), false);
	csv_line_end(out);
}

const char *analysis_csv(struct arena *arena, yyjson_val *analysis, size_t *ret_length)
{
	struct buf out = {.arena = arena};
	size_t index, count, place, arms;
	yyjson_val *metric, *arm;
	csv_header(&out);
	yyjson_arr_foreach (json_get(analysis, "metrics"), index, count, metric)
		yyjson_arr_foreach (json_get(metric, "arms"), place, arms, arm)
			csv_line(&out, analysis, metric, arm);
	*ret_length = out.length;
	return out.data;
}
