#include "ranking/judge.h"

#include "ranking/subject.h"

const struct bag **papers_bags(struct arena *arena, struct word_splitter *splitter,
                               struct paper_list papers)
{
	const struct bag **bags = arena_array(arena, papers.count, sizeof(const struct bag *));
	for (size_t i = 0; i < papers.count; i++)
		bags[i] = papers.papers[i].bag = bag_new(arena, splitter, &papers.papers[i].text);
	return bags;
}

void judge_read(const struct judge *judge, struct paper_list papers)
{
	for (size_t i = 0; i < papers.count; i++) {
		struct paper *paper = &papers.papers[i];
		if (!paper->bag)
			paper->bag = bag_new(judge->arena, judge->splitter, &paper->text);
		paper->features = features_new(judge->arena, judge->frequencies, paper->bag);
	}
}

const struct features **judge_features(const struct judge *judge, struct paper_list papers)
{
	const struct features **all =
		arena_array(judge->arena, papers.count, sizeof(const struct features *));
	for (size_t i = 0; i < papers.count; i++)
		all[i] = papers.papers[i].features;
	return all;
}

double judge_score(const struct judge *judge, const struct paper *paper)
{
	return preference_score(judge->model, paper->features);
}

const struct bag *judge_words(struct arena *arena, struct word_splitter *splitter,
                              const struct judge_input *input)
{
	struct paper_text text = {
		.title = input->name,
		.abstract = subject_of(arena, input->context),
	};
	return bag_new(arena, splitter, &text);
}

static void take_prior(struct judge *judge, struct paper_list background)
{
	struct preference_input prior = {
		.frequencies = judge->frequencies,
		.interest = judge->interest,
		.background = judge_features(judge, background),
		.background_count = background.count,
	};
	judge->model = preference_prior(judge->arena, &prior);
}

struct judge *judge_new(struct arena *arena, const struct judge_input *input,
                        struct paper_list background)
{
	struct judge *judge = arena_new_of(arena, struct judge);
	judge->arena = arena;
	judge->splitter = word_splitter_new(arena);
	if (input->model)
		judge->model = preference_load(arena, input->model, input->model_length);
	judge->is_fitted = judge->model != NULL;
	judge->frequencies =
		judge->is_fitted
			? preference_frequencies(judge->model)
			: frequency_table_new(arena,
	                                      papers_bags(arena, judge->splitter, background),
	                                      background.count);
	judge->interest =
		features_new(arena, judge->frequencies, judge_words(arena, judge->splitter, input));
	judge_read(judge, background);
	if (!judge->is_fitted)
		take_prior(judge, background);
	return judge;
}
