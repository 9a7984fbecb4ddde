#include "ranking/choosing.h"

#include "base/json.h"
#include "ranking/ranking.h"
#include "ranking/reasoning.h"

#include <math.h>
#include <string.h>

/* Decimal places that a score is told with. */
#define SCORE_UNITS 1e4

static struct candidate *candidates_of(const struct judge *judge, struct paper_list pool)
{
	struct candidate *candidates = arena_array(judge->arena, pool.count, sizeof(*candidates));
	for (size_t i = 0; i < pool.count; i++) {
		const struct paper *paper = &pool.papers[i];
		candidates[i] = (struct candidate){
			.features = paper->features,
			.retrieval = paper->relevance,
			.preference = judge_score(judge, paper),
			.age_days = paper->age_days,
			.has_container = paper->has_container,
		};
	}
	return candidates;
}

/* A word worth naming: "re" of "re-ranking" is none, "RL" is one. */
static bool is_telling(const char *word)
{
	return strlen(word) > 2 || strspn(word, "abcdefghijklmnopqrstuvwxyz") < strlen(word);
}

static const char *const *telling_words(struct arena *arena, const struct paper *paper,
                                        size_t *ret_count)
{
	const char **words = arena_array(arena, paper->matched_count, sizeof(*words));
	size_t count = 0;
	for (size_t i = 0; i < paper->matched_count; i++)
		if (is_telling(paper->matched[i]))
			words[count++] = paper->matched[i];
	*ret_count = count;
	return words;
}

static yyjson_mut_val *chosen_json(yyjson_mut_doc *doc, const struct judge *judge,
                                   const struct choosing_input *input, const struct paper *paper,
                                   const struct ranked *ranked)
{
	struct reasoning_facts facts = {
		.title = paper->text.title,
		.abstract = paper->text.abstract,
		.interest_name = input->interest.name,
		.retrieval = paper->relevance,
		.age_days = paper->age_days,
		.has_container = paper->has_container,
		.code_url = paper->code_url,
		.liked = judge->is_fitted ? judge_score(judge, paper) : NAN,
	};
	facts.terms = telling_words(judge->arena, paper, &facts.term_count);
	yyjson_mut_val *row = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, row, "arxiv_id", paper->arxiv_id);
	yyjson_mut_obj_add_real(doc, row, "relevance_score",
	                        round(ranked->relevance * SCORE_UNITS) / SCORE_UNITS);
	yyjson_mut_obj_add_uint(doc, row, "rank", ranked->rank);
	yyjson_mut_obj_add_str(doc, row, "reasoning",
	                       reasoning_sentence(judge->arena, judge->splitter, &facts));
	yyjson_mut_obj_add_str(doc, row, "suggested_experiment",
	                       reasoning_experiment(judge->arena, judge->splitter, &facts));
	return row;
}

const char *choose_papers(struct arena *arena, const struct choosing_input *input)
{
	struct paper_list pool = papers_read(arena, input->pool_json, input->now_ms);
	struct paper_list seen = papers_read(arena, input->seen_json, input->now_ms);
	struct judge *judge = judge_new(arena, &input->interest, pool);
	judge_read(judge, seen);
	struct rank_options options = {
		.limit = input->limit,
		.half_life_days = input->half_life_days,
		.preference_trust = preference_trust(judge->model),
		.seen = judge_features(judge, seen),
		.seen_count = seen.count,
	};
	size_t count;
	struct ranked *ranked =
		rank_pool(arena, candidates_of(judge, pool), pool.count, &options, &count);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	for (size_t i = 0; i < count; i++)
		yyjson_mut_arr_append(rows,
		                      chosen_json(doc, judge, input,
		                                  &pool.papers[ranked[i].candidate], &ranked[i]));
	return json_write_mut(arena, rows, NULL);
}
