#include "analysis/side_by_side.h"

#include "base/base.h"

#include <string.h>

static const char *const HEAD[] = {"id", "name", "status"};

static const char *const FIELDS[] = {
	"status",
	"hypothesis",
	"outcome",
	"decision",
	"observed_delta",
	"delta_source",
	"target_metric",
	"verdict",
	"delta_confidence",
	"tags",
	"project_name",
	"source_type",
	"source_ref",
	"pr_url",
	"pr_status",
	"created_via",
	"created_at",
	"updated_at",
	"launch_context",
	"ab_test_config",
	"ticket_source",
	"ticket_url",
	"external_ticket_id",
};

/* What is built, of which experiments. */
struct table {
	yyjson_mut_doc *doc;
	yyjson_val *experiments;
};

static yyjson_mut_val *copy(const struct table *t, yyjson_val *value)
{
	return value ? yyjson_val_mut_copy(t->doc, value) : yyjson_mut_null(t->doc);
}

static yyjson_mut_val *heads(const struct table *t)
{
	yyjson_mut_val *list = yyjson_mut_arr(t->doc);
	size_t index, count;
	yyjson_val *experiment;
	yyjson_arr_foreach (t->experiments, index, count, experiment) {
		yyjson_mut_val *head = yyjson_mut_arr_add_obj(t->doc, list);
		for (size_t i = 0; i < ARRAY_LEN(HEAD); i++)
			json_add_member(t->doc, head, HEAD[i], experiment, HEAD[i]);
	}
	return list;
}

/* --- Fields ----------------------------------------------------------------------------------- */

static bool is_same(yyjson_val *one, yyjson_val *other)
{
	if (!one || !other)
		return one == other;
	return yyjson_equals(one, other);
}

static bool differs(const struct table *t, const char *field)
{
	size_t index, count;
	yyjson_val *experiment, *first = json_get(yyjson_arr_get_first(t->experiments), field);
	yyjson_arr_foreach (t->experiments, index, count, experiment)
		if (!is_same(first, json_get(experiment, field)))
			return true;
	return false;
}

static void add_field(const struct table *t, yyjson_mut_val *fields, const char *field,
                      bool is_different)
{
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(t->doc, fields);
	yyjson_mut_val *values = yyjson_mut_arr(t->doc);
	size_t index, count;
	yyjson_val *experiment;
	yyjson_arr_foreach (t->experiments, index, count, experiment)
		yyjson_mut_arr_add_val(values, copy(t, json_get(experiment, field)));
	json_add_text(t->doc, row, "field", field);
	yyjson_mut_obj_add_val(t->doc, row, "values", values);
	yyjson_mut_obj_add_bool(t->doc, row, "differs", is_different);
}

static yyjson_mut_val *fields_json(const struct table *t)
{
	yyjson_mut_val *fields = yyjson_mut_arr(t->doc);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++)
			if (differs(t, FIELDS[i]) == (pass == 0))
				add_field(t, fields, FIELDS[i], pass == 0);
	return fields;
}

/* --- Metrics ---------------------------------------------------------------------------------- */

static yyjson_val *analysis_of(yyjson_val *experiment)
{
	return json_get(experiment, "analysis");
}

/* The item of an array whose member is that text; NULL: there is none. */
static yyjson_val *item_with(yyjson_val *array, const char *member, const char *text)
{
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (array, index, count, item) {
		const char *own = json_get_text(item, member);
		if (own && text && strcmp(own, text) == 0)
			return item;
	}
	return NULL;
}

static yyjson_val *metric_of(yyjson_val *experiment, const char *key)
{
	return item_with(json_get(analysis_of(experiment), "metrics"), "key", key);
}

/* The comparison of the arm that speaks for the experiment, or of the first treatment. */
static yyjson_val *comparison_of(yyjson_val *experiment, yyjson_val *metric)
{
	yyjson_val *comparisons = json_get(metric, "comparisons");
	yyjson_val *spoken =
		item_with(comparisons, "arm", json_get_text(analysis_of(experiment), "arm"));
	return spoken ? spoken : yyjson_arr_get_first(comparisons);
}

/* The word of an experiment is that of the metric that speaks for it. */
static const char *confidence_of(yyjson_val *experiment, const char *key)
{
	yyjson_val *analysis = analysis_of(experiment);
	const char *spoken = json_get_text(analysis, "metric");
	return spoken && strcmp(spoken, key) == 0 ? json_get_text(analysis, "delta_confidence")
	                                          : NULL;
}

static void add_value(const struct table *t, yyjson_mut_val *values, yyjson_val *experiment,
                      const char *key)
{
	static const char *const OF_ARM[] = {"n", "mean", "low", "high"};
	static const char *const OF_PAIR[] = {"relative", "relative_low", "relative_high",
	                                      "p_adjusted"};
	yyjson_val *metric = metric_of(experiment, key);
	yyjson_val *pair = comparison_of(experiment, metric);
	yyjson_val *arm = item_with(json_get(metric, "arms"), "arm", json_get_text(pair, "arm"));
	yyjson_mut_val *value = yyjson_mut_arr_add_obj(t->doc, values);
	json_add_member(t->doc, value, "id", experiment, "id");
	for (size_t i = 0; i < ARRAY_LEN(OF_ARM); i++)
		json_add_member(t->doc, value, OF_ARM[i], arm, OF_ARM[i]);
	for (size_t i = 0; i < ARRAY_LEN(OF_PAIR); i++)
		json_add_member(t->doc, value, OF_PAIR[i], pair, OF_PAIR[i]);
	json_add_text(t->doc, value, "delta_confidence",
	              metric ? confidence_of(experiment, key) : NULL);
}

/* What a metric's values must have in common. */
static const char *kind_of(yyjson_val *analysis, yyjson_val *metric)
{
	(void)analysis;
	return json_get_text(metric, "kind");
}

static const char *unit_of(yyjson_val *analysis, yyjson_val *metric)
{
	(void)metric;
	const char *unit = json_get_text(analysis, "unit");
	return unit ? unit : json_get_text(analysis, "source");
}

static const char *template_of(yyjson_val *analysis, yyjson_val *metric)
{
	(void)metric;
	return json_get_text(analysis, "template_digest");
}

static const struct {
	const char *(*of)(yyjson_val *analysis, yyjson_val *metric);
	const char *why_not;
} COMMON[] = {
	{kind_of, "The experiments measure it in different ways."},
	{unit_of, "The experiments count different things: units, examples or runs."},
	{template_of, "The evaluations are of different templates or versions of one."},
};

static bool is_common(const struct table *t, const char *key, size_t which)
{
	const char *first = NULL;
	bool is_first = true;
	size_t index, count;
	yyjson_val *experiment;
	yyjson_arr_foreach (t->experiments, index, count, experiment) {
		yyjson_val *metric = metric_of(experiment, key);
		if (!metric)
			continue;
		const char *own = COMMON[which].of(analysis_of(experiment), metric);
		if (is_first)
			first = own;
		else if ((first || own) && (!first || !own || strcmp(first, own) != 0))
			return false;
		is_first = false;
	}
	return true;
}

/* Why the values cannot be compared; NULL: they can. */
static const char *why_not(const struct table *t, const char *key)
{
	size_t index, count, with_it = 0;
	yyjson_val *experiment;
	yyjson_arr_foreach (t->experiments, index, count, experiment)
		with_it += metric_of(experiment, key) != NULL;
	if (with_it < 2)
		return "Only one of the experiments has results of it.";
	for (size_t i = 0; i < ARRAY_LEN(COMMON); i++)
		if (!is_common(t, key, i))
			return COMMON[i].why_not;
	return NULL;
}

static void add_metric(const struct table *t, yyjson_mut_val *metrics, yyjson_val *metric)
{
	const char *key = json_get_text(metric, "key"), *reason = why_not(t, key);
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(t->doc, metrics);
	yyjson_mut_val *values = yyjson_mut_arr(t->doc);
	size_t index, count;
	yyjson_val *experiment;
	yyjson_arr_foreach (t->experiments, index, count, experiment)
		add_value(t, values, experiment, key);
	json_add_text(t->doc, row, "key", key);
	json_add_member(t->doc, row, "kind", metric, "kind");
	yyjson_mut_obj_add_val(t->doc, row, "values", values);
	yyjson_mut_obj_add_bool(t->doc, row, "comparable", !reason);
	json_add_text(t->doc, row, "why_not", reason);
}

/* Whether an experiment before number `place` has the metric. */
static bool is_listed(const struct table *t, size_t place, const char *key)
{
	for (size_t i = 0; i < place; i++)
		if (metric_of(yyjson_arr_get(t->experiments, i), key))
			return true;
	return false;
}

static yyjson_mut_val *metrics_json(const struct table *t)
{
	yyjson_mut_val *metrics = yyjson_mut_arr(t->doc);
	size_t place, experiments, index, count;
	yyjson_val *experiment, *metric;
	yyjson_arr_foreach (t->experiments, place, experiments, experiment)
		yyjson_arr_foreach (json_get(analysis_of(experiment), "metrics"), index, count,
		                    metric)
			if (!is_listed(t, place, json_get_text(metric, "key")))
				add_metric(t, metrics, metric);
	return metrics;
}

const char *side_by_side_json(struct arena *arena, yyjson_val *experiments)
{
	struct table t = {json_doc_new(arena), experiments};
	yyjson_mut_val *object = yyjson_mut_obj(t.doc);
	yyjson_mut_obj_add_val(t.doc, object, "experiments", heads(&t));
	yyjson_mut_obj_add_val(t.doc, object, "fields", fields_json(&t));
	yyjson_mut_obj_add_val(t.doc, object, "metrics", metrics_json(&t));
	return json_write_mut(arena, object, NULL);
}
