#include "preference/model_fitting.h"

#include "json/json.h"
#include "preference/learned_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Papers in whose words a model is described: the newest. */
#define LEARNED_FROM_MAX 300

/* The papers of both lists. */
static struct paper_list joined(struct arena *arena, struct paper_list first,
                                struct paper_list second)
{
	struct paper_list all = {.count = first.count + second.count};
	all.papers = arena_array(arena, all.count, sizeof(*all.papers));
	for (size_t i = 0; i < all.count; i++)
		all.papers[i] = i < first.count ? first.papers[i] : second.papers[i - first.count];
	return all;
}

/* What the model is, for the user. */
static const char *describe(struct arena *arena, const struct preference_model *model)
{
	struct preference_facts facts = preference_facts(model);
	const char *format =
		facts.kind == PREFERENCE_PRIOR
			? "the interest's own text ranks the %u examples better than a "
			  "model fitted to them, and is used alone"
			: "fitted to %u examples";
	return arena_printf(arena, format, facts.examples);
}

/* An example and its coefficient. */
struct evidence {
	const struct paper *paper;
	double coefficient;
};

static int greatest_first(const void *a, const void *b)
{
	const struct evidence *left = a, *right = b;
	double x = fabs(left->coefficient), y = fabs(right->coefficient);
	if (x != y)
		return x < y ? 1 : -1;
	return (left->paper > right->paper) - (left->paper < right->paper);
}

static const char *evidence_json(struct arena *arena, struct evidence *evidence, size_t count)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	qsort(evidence, count, sizeof(*evidence), greatest_first);
	for (size_t i = 0; i < MIN_OF(count, (size_t)EVIDENCE_MAX); i++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
		yyjson_mut_obj_add_str(doc, row, "arxiv_id", evidence[i].paper->arxiv_id);
		yyjson_mut_obj_add_str(doc, row, "signal", evidence[i].paper->signal);
		yyjson_mut_obj_add_real(doc, row, "coefficient", evidence[i].coefficient);
	}
	return json_write_mut(arena, rows, NULL);
}

/* The examples to fit to, and their papers in `evidence`; counts them in `result`. Papers with an
 * unknown signal are left out. */
static struct preference_example *examples_of(struct arena *arena, struct paper_list papers,
                                              struct fitting_result *result,
                                              struct evidence *evidence)
{
	struct preference_example *examples = arena_array(arena, papers.count, sizeof(*examples));
	for (size_t i = 0; i < papers.count; i++) {
		struct preference_example *example = &examples[result->examples];
		const struct paper *paper = &papers.papers[i];
		if (!paper->signal || !preference_signal_parse(paper->signal, &example->signal))
			continue;
		evidence[result->examples].paper = paper;
		example->features = paper->features;
		result->examples++;
		result->positives += preference_signal_is_positive(example->signal);
	}
	return examples;
}

/* What the model learned. A paper with several signals, which follow each other in `evidence`, is
 * read once. */
static const char *learned_json(struct arena *arena, struct word_splitter *splitter,
                                const struct preference_model *model,
                                const struct preference_example *examples,
                                const struct evidence *evidence, size_t count)
{
	struct learned_from papers[LEARNED_FROM_MAX];
	size_t used = 0;
	for (size_t i = count; i > 0 && used < LEARNED_FROM_MAX; i--) {
		const struct paper *paper = evidence[i - 1].paper;
		if (i < count && strcmp(paper->arxiv_id, evidence[i].paper->arxiv_id) == 0)
			continue;
		bool is_positive = preference_signal_is_positive(examples[i - 1].signal);
		papers[used++] = (struct learned_from){paper, is_positive};
	}
	return learned_words(arena, splitter, model, papers, used);
}

struct fitting_result fit_model(struct arena *arena, const struct fitting_input *input)
{
	struct fitting_result result = {.auc = NAN};
	struct paper_list examples = papers_read(arena, input->examples_json, 0);
	struct paper_list background = papers_read(arena, input->background_json, 0);
	struct word_splitter *splitter = word_splitter_new(arena);
	papers_make_bags(arena, splitter, examples);
	papers_make_bags(arena, splitter, background);
	const struct frequency_table *frequencies =
		interest_frequencies(arena, &input->interest, joined(arena, examples, background));
	papers_make_features(arena, frequencies, examples);
	struct evidence *evidence = arena_array(arena, examples.count, sizeof(*evidence));
	struct preference_input fit = {
		.frequencies = frequencies,
		.interest = features_new(arena, frequencies,
	                                 interest_bag(arena, splitter, &input->interest)),
		.examples = examples_of(arena, examples, &result, evidence),
		.background = papers_make_features(arena, frequencies, background),
		.background_count = background.count,
	};
	fit.example_count = result.examples;
	struct preference_model *model = preference_fit(arena, &fit, &result.message);
	if (!model)
		return result;
	result.learned_json =
		learned_json(arena, splitter, model, fit.examples, evidence, result.examples);
	for (size_t i = 0; i < result.examples; i++)
		evidence[i].coefficient = preference_coefficients(model)[i];
	result.evidence_json = evidence_json(arena, evidence, result.examples);
	result.model = preference_save(arena, model);
	result.auc = preference_facts(model).auc;
	result.message = describe(arena, model);
	return result;
}
