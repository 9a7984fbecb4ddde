#include "ranking/recommend.h"

#include "base/json.h"
#include "ranking/explanation.h"
#include "ranking/refusal.h"
#include "ranking/selection.h"
#include "ranking/suggestion.h"

#include <math.h>
#include <string.h>

/* Scores in the result have four decimal places. */
#define SCORE_UNITS 1e4

static struct candidate *candidates_of(const struct scorer *scorer, const struct interest *interest,
                                       struct paper_list pool)
{
	struct refusal *refusal = refusal_new(scorer->arena, scorer->splitter, interest);
	struct candidate *candidates = arena_array(scorer->arena, pool.count, sizeof(*candidates));
	for (size_t i = 0; i < pool.count; i++) {
		const struct paper *paper = &pool.papers[i];
		candidates[i] = (struct candidate){
			.features = paper->features,
			.retrieval = paper->relevance,
			.preference = scorer_score(scorer, paper),
			.age_days = paper->age_days,
			.has_container = paper->has_container,
			.refusal = refusal_of(refusal, &paper->text),
		};
	}
	return candidates;
}

/* Whether an explanation may quote the word: "RL" and "ranking", not the "re" of "re-ranking". */
static bool is_quotable(const char *word)
{
	return strlen(word) > 2 || strspn(word, "abcdefghijklmnopqrstuvwxyz") < strlen(word);
}

static const char *const *quotable_words(struct arena *arena, const struct paper *paper,
                                         size_t *ret_count)
{
	const char **words = arena_array(arena, paper->matched_count, sizeof(*words));
	size_t count = 0;
	for (size_t i = 0; i < paper->matched_count; i++)
		if (is_quotable(paper->matched[i]))
			words[count++] = paper->matched[i];
	*ret_count = count;
	return words;
}

static yyjson_mut_val *recommendation_json(yyjson_mut_doc *doc, const struct scorer *scorer,
                                           const struct recommend_input *input,
                                           const struct paper *paper,
                                           const struct selected *selected)
{
	struct explanation_facts facts = {
		.title = paper->text.title,
		.abstract = paper->text.abstract,
		.interest_name = input->interest.name,
		.retrieval = paper->relevance,
		.age_days = paper->age_days,
		.has_container = paper->has_container,
		.code_url = paper->code_url,
		.liked = preference_facts(scorer->model).kind != PREFERENCE_PRIOR
	                         ? scorer_score(scorer, paper)
	                         : NAN,
	};
	facts.terms = quotable_words(scorer->arena, paper, &facts.term_count);
	yyjson_mut_val *row = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, row, "arxiv_id", paper->arxiv_id);
	yyjson_mut_obj_add_real(doc, row, "relevance_score",
	                        round(selected->final_score * SCORE_UNITS) / SCORE_UNITS);
	yyjson_mut_obj_add_uint(doc, row, "rank", selected->rank);
	yyjson_mut_obj_add_str(doc, row, "reasoning",
	                       explain_match(scorer->arena, scorer->splitter, &facts));
	json_add_text(doc, row, "suggested_experiment",
	              suggest_experiment(scorer->arena, scorer->splitter, &facts));
	return row;
}

const char *recommend_papers(struct arena *arena, const struct recommend_input *input)
{
	struct paper_list pool = papers_read(arena, input->pool_json, input->now_ms);
	struct paper_list recommended = papers_read(arena, input->recommended_json, input->now_ms);
	struct scorer *scorer = scorer_new(arena, &input->interest, pool);
	struct selection_options options = {
		.limit = input->limit,
		.scoring = {.half_life_days = input->half_life_days,
	                    .preference_trust = preference_trust(scorer->model)},
		.recommended = scorer_prepare(scorer, recommended),
		.recommended_count = recommended.count,
	};
	size_t count;
	struct selected *selected =
		select_papers(arena, candidates_of(scorer, &input->interest, pool), pool.count,
	                      &options, &count);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	for (size_t i = 0; i < count; i++) {
		const struct paper *paper = &pool.papers[selected[i].candidate];
		yyjson_mut_arr_append(rows,
		                      recommendation_json(doc, scorer, input, paper, &selected[i]));
	}
	return json_write_mut(arena, rows, NULL);
}
