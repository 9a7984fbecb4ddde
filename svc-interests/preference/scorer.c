#include "preference/scorer.h"

#include "interest/interest_name.h"
#include "interest/interest_text.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>

/* Scores in an answer have six decimal places: those of most papers of the corpus are near 0. */
#define SCORE_UNITS 1e6

const struct features **scorer_prepare(const struct scorer *scorer, struct paper_list papers)
{
	papers_make_bags(scorer->arena, scorer->splitter, papers);
	return papers_make_features(scorer->arena, preference_frequencies(scorer->model), papers);
}

double scorer_score(const struct scorer *scorer, const struct paper *paper)
{
	return preference_score(scorer->model, paper->features);
}

const struct bag *interest_bag(struct arena *arena, struct word_splitter *splitter,
                               const struct interest *interest)
{
	struct paper_text text = {
		.title = interest_name_topic(arena, interest->name),
		.abstract = interest_text_clean(arena, interest->context),
	};
	return bag_new(arena, splitter, &text);
}

const struct frequency_table *
interest_frequencies(struct arena *arena, const struct interest *interest, struct paper_list papers)
{
	if (interest->frequency_table)
		return interest->frequency_table;
	struct reader in = {.data = interest->frequencies, .length = interest->frequencies_length};
	const struct frequency_table *corpus = in.data ? frequency_read(arena, &in) : NULL;
	if (corpus)
		return corpus;
	const struct bag **bags = arena_array(arena, papers.count, sizeof(*bags));
	for (size_t i = 0; i < papers.count; i++)
		bags[i] = papers.papers[i].bag;
	return frequency_table_new(arena, bags, papers.count);
}

static struct preference_model *make_prior(struct arena *arena, struct word_splitter *splitter,
                                           const struct interest *interest,
                                           struct paper_list background)
{
	papers_make_bags(arena, splitter, background);
	const struct frequency_table *frequencies =
		interest_frequencies(arena, interest, background);
	struct preference_input input = {
		.frequencies = frequencies,
		.interest =
			features_new(arena, frequencies, interest_bag(arena, splitter, interest)),
		.background = papers_make_features(arena, frequencies, background),
		.background_count = background.count,
	};
	return preference_prior(arena, &input);
}

struct scorer *scorer_new(struct arena *arena, const struct interest *interest,
                          struct paper_list background)
{
	struct scorer *scorer = arena_new_of(arena, struct scorer);
	scorer->arena = arena;
	scorer->splitter = word_splitter_new(arena);
	if (interest->model)
		scorer->model = preference_load(arena, interest->model, interest->model_length);
	scorer->is_stored = scorer->model;
	if (scorer->is_stored)
		scorer_prepare(scorer, background);
	else
		scorer->model = make_prior(arena, scorer->splitter, interest, background);
	return scorer;
}

struct scored {
	const struct paper *paper;
	double score;
};

static int best_first(const void *a, const void *b)
{
	const struct scored *left = a, *right = b;
	if (left->score != right->score)
		return left->score < right->score ? 1 : -1;
	return (left->paper > right->paper) - (left->paper < right->paper);
}

static struct scored *score_all(const struct scorer *scorer, struct paper_list papers)
{
	struct scored *scored = arena_array(scorer->arena, papers.count, sizeof(*scored));
	for (size_t i = 0; i < papers.count; i++)
		scored[i] = (struct scored){
			.paper = &papers.papers[i],
			.score = round(scorer_score(scorer, &papers.papers[i]) * SCORE_UNITS) /
		                 SCORE_UNITS,
		};
	qsort(scored, papers.count, sizeof(*scored), best_first);
	return scored;
}

static yyjson_mut_val *scored_json(yyjson_mut_doc *doc, const struct scored *scored,
                                   int64_t version)
{
	const struct paper *paper = scored->paper;
	yyjson_mut_val *row = yyjson_mut_obj(doc);
	if (paper->arxiv_id)
		yyjson_mut_obj_add_str(doc, row, "arxiv_id", paper->arxiv_id);
	else
		yyjson_mut_obj_add_int(doc, row, "index", paper->index);
	yyjson_mut_obj_add_str(doc, row, "title", paper->text.title ? paper->text.title : "");
	yyjson_mut_obj_add_real(doc, row, "score", scored->score);
	yyjson_mut_obj_add_int(doc, row, "model_version", version);
	return row;
}

const char *score_candidates(struct arena *arena, const struct score_input *input)
{
	struct paper_list pool = papers_read(arena, input->pool_json, 0);
	struct scorer *scorer = scorer_new(arena, &input->interest, pool);
	struct paper_list papers = pool;
	if (input->candidates_json) {
		papers = papers_read(arena, input->candidates_json, 0);
		scorer_prepare(scorer, papers);
	}
	struct scored *scored = score_all(scorer, papers);
	int64_t version = scorer->is_stored ? input->model_version : 0;
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	for (size_t i = 0; i < MIN_OF(papers.count, input->limit); i++)
		yyjson_mut_arr_append(rows, scored_json(doc, &scored[i], version));
	return json_write_mut(arena, rows, NULL);
}
