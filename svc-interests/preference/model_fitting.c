#include "preference/model_fitting.h"

#include <math.h>

/* Document frequencies over the examples and the background together. */
static const struct frequency_table *count_terms(struct arena *arena,
                                                 struct word_splitter *splitter,
                                                 struct paper_list examples,
                                                 struct paper_list background)
{
	const struct bag **first = papers_make_bags(arena, splitter, examples);
	const struct bag **second = papers_make_bags(arena, splitter, background);
	size_t count = examples.count + background.count;
	const struct bag **all = arena_array(arena, count, sizeof(const struct bag *));
	for (size_t i = 0; i < count; i++)
		all[i] = i < examples.count ? first[i] : second[i - examples.count];
	return frequency_table_new(arena, all, count);
}

/* The examples to fit to; counts them in `result`. Papers with an unknown signal are left out. */
static struct preference_example *examples_of(struct arena *arena, struct paper_list papers,
                                              struct fitting_result *result)
{
	struct preference_example *examples = arena_array(arena, papers.count, sizeof(*examples));
	for (size_t i = 0; i < papers.count; i++) {
		struct preference_example *example = &examples[result->examples];
		const struct paper *paper = &papers.papers[i];
		if (!paper->signal || !preference_signal_parse(paper->signal, &example->signal))
			continue;
		example->features = paper->features;
		result->examples++;
		result->positives += preference_signal_is_positive(example->signal);
	}
	return examples;
}

struct fitting_result fit_model(struct arena *arena, const struct fitting_input *input)
{
	struct fitting_result result = {.auc = NAN};
	struct paper_list examples = papers_read(arena, input->examples_json, 0);
	struct paper_list background = papers_read(arena, input->pool_json, 0);
	struct word_splitter *splitter = word_splitter_new(arena);
	const struct frequency_table *frequencies =
		count_terms(arena, splitter, examples, background);
	papers_make_features(arena, frequencies, examples);
	struct preference_input fit = {
		.frequencies = frequencies,
		.interest = features_new(arena, frequencies,
	                                 interest_bag(arena, splitter, &input->interest)),
		.examples = examples_of(arena, examples, &result),
		.background = papers_make_features(arena, frequencies, background),
		.background_count = background.count,
	};
	fit.example_count = result.examples;
	struct preference_model *model = preference_fit(arena, &fit, &result.message);
	if (!model)
		return result;
	result.model = preference_save(arena, model);
	result.auc = preference_facts(model).auc;
	result.message = arena_printf(arena, "fitted to %zu examples", result.examples);
	return result;
}
