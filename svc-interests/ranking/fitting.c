#include "ranking/fitting.h"

#include <math.h>

/* One table for both: how telling a word is shows in all papers that are looked at. */
static const struct frequency_table *count_terms(struct arena *arena,
                                                 struct word_splitter *splitter,
                                                 struct paper_list examples,
                                                 struct paper_list background)
{
	const struct bag **first = papers_bags(arena, splitter, examples);
	const struct bag **second = papers_bags(arena, splitter, background);
	size_t count = examples.count + background.count;
	const struct bag **all = arena_array(arena, count, sizeof(const struct bag *));
	for (size_t i = 0; i < count; i++)
		all[i] = i < examples.count ? first[i] : second[i - examples.count];
	return frequency_table_new(arena, all, count);
}

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
	struct judge eyes = {.arena = arena, .splitter = word_splitter_new(arena)};
	eyes.frequencies = count_terms(arena, eyes.splitter, examples, background);
	judge_read(&eyes, examples);
	judge_read(&eyes, background);
	struct preference_input fit = {
		.frequencies = eyes.frequencies,
		.interest = features_new(arena, eyes.frequencies,
	                                 judge_words(arena, eyes.splitter, &input->interest)),
		.examples = examples_of(arena, examples, &result),
		.background = judge_features(&eyes, background),
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
