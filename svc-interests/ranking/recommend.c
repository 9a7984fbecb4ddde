#include "ranking/recommend.h"

#include "json/json.h"
#include "ranking/breakdown.h"
#include "ranking/explanation.h"
#include "ranking/refusal.h"
#include "ranking/selection.h"
#include "ranking/suggestion.h"

#include <math.h>
#include <string.h>

/* Scores in the result have four decimal places. */
#define SCORE_UNITS 1e4

/* The making of recommendations for one interest. */
struct recommendations {
	const struct recommend_input *input;
	struct arena *arena;
	const struct scorer *scorer;
	struct refusal *refusal;
	struct paper_list pool;
	struct paper_list recommended;
	struct paper_list examples;
	struct candidate *candidates; /* of the pool */
	struct candidate *unread;     /* those that were not read, as if nothing were refused */
	struct selection_options options;
	struct selected *selected; /* best first */
	size_t count;              /* of those */
	yyjson_val *explained;     /* rows of the answer of svc-search; NULL: none */
};

/* Whether a matched word is the whole name of an author. Other words have no blank. */
static bool is_author(const char *word)
{
	return strchr(word, ' ');
}

/* The first author of the paper whom the interest names; NULL: none. */
static const char *named_author(const struct paper *paper)
{
	for (size_t i = 0; i < paper->matched_count; i++)
		if (is_author(paper->matched[i]))
			return paper->matched[i];
	return NULL;
}

static struct candidate candidate_of(const struct paper *paper, double preference, double refusal)
{
	return (struct candidate){
		.features = paper->features,
		.retrieval = paper->relevance,
		.preference = preference,
		.age_days = paper->age_days,
		.has_container = paper->has_container,
		.refusal = refusal,
		.author = refusal > 0 ? NULL : named_author(paper),
	};
}

static void make_candidates(struct recommendations *making)
{
	struct paper_list pool = making->pool, unread = making->input->unread;
	making->candidates = arena_array(making->arena, pool.count, sizeof(*making->candidates));
	making->unread = arena_array(making->arena, unread.count, sizeof(*making->unread));
	for (size_t i = 0; i < pool.count; i++) {
		const struct paper *paper = &pool.papers[i];
		making->candidates[i] = candidate_of(paper, scorer_score(making->scorer, paper),
		                                     refusal_of(making->refusal, paper));
	}
	for (size_t i = 0; i < unread.count; i++)
		making->unread[i] = candidate_of(&unread.papers[i], unread.papers[i].preference, 0);
}

/* The mean preference of the first candidates, be they read or not. Summed in their order, so that
 * it is the same to the last bit however many were read. */
static double typical_preference(const struct recommendations *making)
{
	struct paper_list pool = making->pool, unread = making->input->unread;
	size_t read = 0, others = 0;
	double sum = 0;
	while (read + others < CALIBRATION_TYPICAL && read + others < pool.count + unread.count) {
		bool is_read =
			others == unread.count ||
			(read < pool.count &&
		         papers_by_relevance(&pool.papers[read], &unread.papers[others]) < 0);
		sum += is_read ? making->candidates[read++].preference
		               : making->unread[others++].preference;
	}
	return read + others > 0 ? sum / (double)(read + others) : 0;
}

/* Note what those can have at most that were not read. */
static void bound_unread(struct recommendations *making)
{
	struct selection_options *options = &making->options;
	for (size_t i = 0; i < making->input->unread.count; i++) {
		const struct candidate *unread = &making->unread[i];
		double score = base_score(unread, &options->scoring);
		double relevance = candidate_relevance(unread, &options->scoring);
		options->base_score_outside = fmax(options->base_score_outside, score);
		if (!relevance_is_below(relevance, unread->author, RELEVANCE_LOOSE))
			options->related_outside = fmax(options->related_outside, score);
	}
}

/* Whether an explanation may quote the word: "RL" and "ranking", not the "re" of "re-ranking". */
static bool is_quotable(const char *word)
{
	if (is_author(word))
		return false;
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

/* The id of the paper with these features, in either list; NULL: there is none. */
static const char *id_of(const struct recommendations *making, const struct features *features)
{
	const struct paper_list lists[] = {making->pool, making->recommended};
	for (size_t list = 0; features && list < ARRAY_LEN(lists); list++)
		for (size_t i = 0; i < lists[list].count; i++)
			if (lists[list].papers[i].features == features)
				return lists[list].papers[i].arxiv_id;
	return NULL;
}

/* How svc-search explains a paper of the pool. NULL: not at all, or with another relevance than the
 * pool has, which is of another search then. */
static yyjson_val *search_explanation(const struct recommendations *making,
                                      const struct paper *paper)
{
	size_t index, max;
	yyjson_val *row;
	yyjson_arr_foreach (making->explained, index, max, row) {
		const char *id = json_get_text(row, "arxiv_id");
		if (id && strcmp(id, paper->arxiv_id) == 0)
			return json_get_float(row, "relevance", -1) == paper->relevance
			               ? json_get(row, "explanation")
			               : NULL;
	}
	return NULL;
}

static struct explanation_facts facts_of(const struct recommendations *making,
                                         const struct selected *selected)
{
	const struct paper *paper = &making->pool.papers[selected->candidate];
	bool is_fitted = preference_facts(making->scorer->model).kind != PREFERENCE_PRIOR;
	struct explanation_facts facts = {
		.title = paper->text.title,
		.abstract = paper->text.abstract,
		.interest_name = making->input->interest.name,
		.relevance = selected->relevance,
		.age_days = paper->age_days,
		.has_container = paper->has_container,
		.code_url = paper->code_url,
		.liked = is_fitted ? scorer_score(making->scorer, paper) : NAN,
		.author = making->candidates[selected->candidate].author,
	};
	facts.terms = quotable_words(making->arena, paper, &facts.term_count);
	return facts;
}

static yyjson_mut_val *explanation_of(yyjson_mut_doc *doc, const struct recommendations *making,
                                      const struct phrases *matched,
                                      const struct selected *selected)
{
	const struct paper *paper = &making->pool.papers[selected->candidate];
	struct breakdown_input input = {
		.scorer = making->scorer,
		.model_version = making->input->model_version,
		.embedder = making->input->embedder,
		.scoring = making->options.scoring,
		.refusal = making->refusal,
		.examples = making->examples,
		.paper = paper,
		.candidate = &making->candidates[selected->candidate],
		.selected = selected,
		.most_similar = id_of(making, selected->most_similar),
		.matched = matched,
		.search = search_explanation(making, paper),
	};
	return breakdown_json(doc, &input);
}

static yyjson_mut_val *recommendation_json(yyjson_mut_doc *doc,
                                           const struct recommendations *making,
                                           const struct selected *selected)
{
	const struct paper *paper = &making->pool.papers[selected->candidate];
	struct explanation_facts facts = facts_of(making, selected);
	struct phrases matched =
		explanation_phrases(making->arena, making->scorer->splitter, &facts);
	yyjson_mut_val *row = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, row, "arxiv_id", paper->arxiv_id);
	yyjson_mut_obj_add_real(doc, row, "relevance_score",
	                        round(selected->relevance * SCORE_UNITS) / SCORE_UNITS);
	yyjson_mut_obj_add_uint(doc, row, "rank", selected->rank);
	yyjson_mut_obj_add_str(doc, row, "reasoning",
	                       explain_match(making->arena, &facts, &matched));
	json_add_text(doc, row, "suggested_experiment", suggest_experiment(making->arena, &facts));
	yyjson_mut_obj_add_val(doc, row, "explanation",
	                       explanation_of(doc, making, &matched, selected));
	return row;
}

/* Score the papers of the pool. */
static void prepare(struct recommendations *making)
{
	struct arena *arena = making->arena;
	const struct recommend_input *input = making->input;
	making->pool = input->pool;
	making->recommended = input->recommended;
	making->scorer = scorer_new(arena, &input->interest, making->pool);
	making->refusal = refusal_new(arena, making->scorer->splitter, &input->interest);
	make_candidates(making);
	making->options = (struct selection_options){
		.limit = input->limit,
		.scoring = {.half_life_days = input->half_life_days,
	                    .preference_trust = preference_trust(making->scorer->model),
	                    .preference_typical = typical_preference(making)},
		.recommended = scorer_prepare(making->scorer, making->recommended),
		.recommended_count = making->recommended.count,
	};
	bound_unread(making);
}

struct recommendations *recommend_papers(struct arena *arena, const struct recommend_input *input)
{
	struct recommendations *making = arena_new_of(arena, struct recommendations);
	making->input = input;
	making->arena = arena;
	prepare(making);
	making->selected = select_papers(arena, making->candidates, making->pool.count,
	                                 &making->options, &making->count);
	return making->selected ? making : NULL;
}

struct stored_scores recommendations_scores(const struct recommendations *making)
{
	struct stored_scores scores = {.trust = making->options.scoring.preference_trust};
	if (!making->scorer->is_stored)
		return scores;
	scores.all = arena_array(making->arena, making->pool.count, sizeof(*scores.all));
	for (size_t i = 0; i < making->pool.count; i++) {
		const struct paper *paper = &making->pool.papers[i];
		if (paper->version > 0)
			scores.all[scores.count++] = (struct stored_score){
				.arxiv_id = paper->arxiv_id,
				.version = paper->version,
				.has_vector = paper->bag->dense,
				.score = making->candidates[i].preference,
			};
	}
	return scores;
}

const char *recommendations_ids(const struct recommendations *making)
{
	yyjson_mut_doc *doc = json_doc_new(making->arena);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	for (size_t i = 0; i < making->count; i++)
		yyjson_mut_arr_add_str(doc, ids,
		                       making->pool.papers[making->selected[i].candidate].arxiv_id);
	return making->count > 0 ? json_write_mut(making->arena, ids, NULL) : NULL;
}

/* Read what only explanations need. */
static void prepare_explanations(struct recommendations *making, const char *search_json)
{
	yyjson_val *answer = NULL;
	if (making->scorer->is_stored) {
		making->examples = making->input->examples;
		scorer_prepare(making->scorer, making->examples);
	}
	if (search_json &&
	    json_parse(making->arena, search_json, strlen(search_json), &answer, NULL) == ERR_NONE)
		making->explained = json_get(answer, "results");
}

const char *recommendations_json(struct recommendations *making, const char *search_json)
{
	if (making->count > 0)
		prepare_explanations(making, search_json);
	yyjson_mut_doc *doc = json_doc_new(making->arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	for (size_t i = 0; i < making->count; i++)
		yyjson_mut_arr_append(rows, recommendation_json(doc, making, &making->selected[i]));
	return json_write_mut(making->arena, rows, NULL);
}
