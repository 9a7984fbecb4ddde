#include "ranking/breakdown.h"

#include "json/json.h"

#include <math.h>
#include <stdlib.h>

static yyjson_mut_val *add_signal(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *name,
                                  const struct score_parts *parts, enum score_signal signal)
{
	double weight = parts->weights[signal] / parts->weight_sum;
	yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, name);
	json_add_number(doc, object, "value", parts->values[signal]);
	json_add_number(doc, object, "weight", weight);
	json_add_number(doc, object, "contribution", weight * parts->values[signal]);
	return object;
}

/* An example and what it adds to the raw score. */
struct contribution {
	const struct paper *example;
	double similarity;
	double value;
};

static int greatest_first(const void *a, const void *b)
{
	const struct contribution *left = a, *right = b;
	double x = fabs(left->value), y = fabs(right->value);
	if (x != y)
		return x < y ? 1 : -1;
	return (left->example > right->example) - (left->example < right->example);
}

static struct contribution *contributions_of(const struct breakdown_input *input)
{
	struct contribution *all =
		arena_array(input->scorer->arena, input->examples.count, sizeof(*all));
	for (size_t i = 0; i < input->examples.count; i++) {
		const struct paper *example = &input->examples.papers[i];
		double similarity = features_dot(example->features, input->paper->features);
		all[i] = (struct contribution){example, similarity,
		                               similarity * example->coefficient};
	}
	qsort(all, input->examples.count, sizeof(*all), greatest_first);
	return all;
}

/* Add the examples that moved the raw score most, and the rest of it. A prior is moved by none. */
static void add_examples(yyjson_mut_doc *doc, yyjson_mut_val *object,
                         const struct breakdown_input *input, double raw_score)
{
	const struct contribution *all = contributions_of(input);
	size_t count = MIN_OF(input->examples.count, (size_t)BREAKDOWN_EXAMPLES);
	yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, object, "examples");
	for (size_t i = 0; i < count && all[i].value != 0; i++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
		json_add_text(doc, row, "resource_id", all[i].example->arxiv_id);
		json_add_text(doc, row, "title", all[i].example->text.title);
		json_add_text(doc, row, "signal", all[i].example->signal);
		json_add_number(doc, row, "similarity", all[i].similarity);
		json_add_number(doc, row, "contribution", all[i].value);
		raw_score -= all[i].value;
	}
	json_add_number(doc, object, "others", raw_score);
}

static void add_preference(yyjson_mut_doc *doc, yyjson_mut_val *root,
                           const struct breakdown_input *input, const struct score_parts *parts)
{
	static const char *const kinds[] = {
		[PREFERENCE_PRIOR] = "prior",
		[PREFERENCE_CENTROID] = "centroid",
		[PREFERENCE_LOGISTIC] = "logistic",
	};
	const struct scorer *scorer = input->scorer;
	struct preference_parts raw = preference_parts_of(scorer->model, input->paper->features);
	yyjson_mut_val *object = add_signal(doc, root, "preference", parts, SCORE_PREFERENCE);
	yyjson_mut_obj_add_str(doc, object, "model", kinds[preference_facts(scorer->model).kind]);
	yyjson_mut_obj_add_int(doc, object, "model_version",
	                       scorer->is_stored ? input->model_version : 0);
	json_add_number(doc, object, "raw_score", raw.terms + raw.dense + raw.bias);
	json_add_number(doc, object, "slope", raw.slope);
	json_add_number(doc, object, "offset", raw.offset);
	json_add_number(doc, object, "terms", raw.terms);
	json_add_number(doc, object, "dense", raw.dense);
	json_add_number(doc, object, "bias", raw.bias);
	add_examples(doc, object, input, raw.terms + raw.dense + raw.bias);
}

static void add_relevance(yyjson_mut_doc *doc, yyjson_mut_val *root,
                          const struct breakdown_input *input)
{
	struct relevance_signals signals = relevance_signals_of(input->candidate, &input->scoring);
	yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, "relevance");
	json_add_number(doc, object, "preference_lift", signals.preference_lift);
	json_add_number(doc, object, "intercept", RELEVANCE_INTERCEPT);
	json_add_number(doc, object, "slope", RELEVANCE_SLOPE);
	json_add_number(doc, object, "log_odds", relevance_log_odds(&signals));
}

static void add_refusal(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const struct breakdown_input *input, double factor)
{
	yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, "refusal");
	json_add_number(doc, object, "factor", factor);
	yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, object, "found");
	for (size_t i = 0; i < refusal_count(input->refusal); i++) {
		struct refused_item item = refusal_item(input->refusal, i, input->paper);
		if (item.value == 0)
			continue;
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
		yyjson_mut_obj_add_str(doc, row, "text", item.text);
		json_add_number(doc, row, "value", item.value);
	}
}

static void add_similarity(yyjson_mut_doc *doc, yyjson_mut_val *root,
                           const struct breakdown_input *input)
{
	yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, "similarity");
	json_add_number(doc, object, "factor", similarity_factor(input->selected->similarity));
	json_add_number(doc, object, "value", input->selected->similarity);
	json_add_text(doc, object, "resource_id", input->most_similar);
}

static void add_matched(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct phrases *matched)
{
	yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, root, "matched");
	for (size_t i = 0; i < matched->count; i++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
		yyjson_mut_obj_add_str(doc, row, "text", matched->items[i].text);
		yyjson_mut_obj_add_str(doc, row, "field",
		                       matched->items[i].in_title ? "title" : "abstract");
	}
}

yyjson_mut_val *breakdown_json(yyjson_mut_doc *doc, const struct breakdown_input *input)
{
	struct score_parts parts = score_parts_of(input->candidate, &input->scoring);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	json_add_text(doc, root, "embedder", input->embedder);
	yyjson_mut_val *retrieval = add_signal(doc, root, "retrieval", &parts, SCORE_RETRIEVAL);
	if (input->search)
		yyjson_mut_obj_add_val(doc, retrieval, "search",
		                       yyjson_val_mut_copy(doc, input->search));
	else
		yyjson_mut_obj_add_null(doc, retrieval, "search");
	add_preference(doc, root, input, &parts);
	yyjson_mut_val *recency = add_signal(doc, root, "recency", &parts, SCORE_RECENCY);
	json_add_number(doc, recency, "age_days", input->candidate->age_days);
	json_add_number(doc, recency, "half_life_days", input->scoring.half_life_days);
	add_signal(doc, root, "container", &parts, SCORE_CONTAINER);
	json_add_number(doc, root, "selection_score", input->selected->final_score);
	add_relevance(doc, root, input);
	add_refusal(doc, root, input, parts.refusal_factor);
	add_similarity(doc, root, input);
	add_matched(doc, root, input->matched);
	return root;
}
