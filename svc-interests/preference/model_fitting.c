#include "preference/model_fitting.h"

#include <math.h>

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
	struct paper_list background = papers_read(arena, input->background_json, 0);
	struct word_splitter *splitter = word_splitter_new(arena);
	papers_make_bags(arena, splitter, examples);
	papers_make_bags(arena, splitter, background);
	const struct frequency_table *frequencies =
		interest_frequencies(arena, &input->interest, joined(arena, examples, background));
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
	result.message = describe(arena, model);
	return result;
}
