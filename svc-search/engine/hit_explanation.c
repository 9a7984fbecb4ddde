#include "engine/hit_explanation.h"

#include <stdlib.h>
#include <string.h>

static float lexical_score(const struct candidate *candidate)
{
	return candidate->words + candidate->pairs;
}

static float dense_score(const struct candidate *candidate)
{
	return candidate->cosine;
}

/* The rank of a candidate by one kind of score; 0 without such a score. */
static uint32_t rank_by(float score_of(const struct candidate *), const struct ranking *ranking,
                        size_t at)
{
	float own = score_of(&ranking->candidates[at]);
	uint32_t rank = 1;
	if (own <= 0)
		return 0;
	for (size_t i = 0; i < ranking->count; i++)
		rank += score_of(&ranking->candidates[i]) > own;
	return rank;
}

static int compare_terms(const void *a, const void *b)
{
	const struct explained_term *left = a;
	const struct explained_term *right = b;
	if (left->score.score < right->score.score || left->score.score > right->score.score)
		return left->score.score > right->score.score ? -1 : 1;
	return strcmp(left->text, right->text);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct explained_pair *left = a;
	const struct explained_pair *right = b;
	if (left->score < right->score || left->score > right->score)
		return left->score > right->score ? -1 : 1;
	int order = strcmp(left->words[0], right->words[0]);
	return order ? order : strcmp(left->words[1], right->words[1]);
}

static void list_terms(struct arena *arena, const struct parsed_query *query,
                       const struct proximity_detail *detail, struct hit_explanation *out)
{
	out->terms = arena_array(arena, query->term_count, sizeof(*out->terms));
	for (size_t i = 0; i < query->term_count; i++) {
		const struct query_term *term = &query->terms[i];
		if (detail->terms[i].score > 0)
			out->terms[out->term_count++] =
				(struct explained_term){.word = term->word,
			                                .text = term->text,
			                                .weight = term->count * term->idf,
			                                .score = detail->terms[i]};
	}
	qsort(out->terms, out->term_count, sizeof(*out->terms), compare_terms);
}

static void list_pairs(struct arena *arena, const struct parsed_query *query,
                       const struct proximity_detail *detail, struct hit_explanation *out)
{
	out->pair_count = detail->pair_count;
	out->pairs_found = arena_array(arena, out->pair_count, sizeof(*out->pairs_found));
	for (size_t i = 0; i < out->pair_count; i++) {
		const struct pair_score *pair = &detail->pairs[i];
		out->pairs_found[i] = (struct explained_pair){{query->terms[pair->terms[0]].word,
		                                               query->terms[pair->terms[1]].word},
		                                              pair->score};
	}
	qsort(out->pairs_found, out->pair_count, sizeof(*out->pairs_found), compare_pairs);
}

struct hit_explanation *hit_explain(struct arena *arena, const struct ranking *ranking, size_t at,
                                    struct proximity_scorer *scorer)
{
	const struct candidate *candidate = &ranking->candidates[at];
	struct hit_explanation *out = arena_new_of(arena, struct hit_explanation);
	struct proximity_detail *detail = arena_new_of(arena, struct proximity_detail);
	*out = (struct hit_explanation){
		.fusion = ranking->fusion,
		.scale = ranking->scale,
		.has_dense = ranking->has_dense,
		.is_named = candidate->is_named,
		.awaits_vector = candidate->awaits_vector,
		.words = candidate->words,
		.smoothed = candidate->smoothed,
		.pairs = candidate->pairs,
		.cosine = candidate->cosine,
		.lexical_rank = rank_by(lexical_score, ranking, at),
		.dense_rank = rank_by(dense_score, ranking, at),
		.fused = candidate->fused,
		.relevance_limit = at > 0 ? ranking->candidates[at - 1].relevance : 1,
	};
	proximity_explain_document(scorer, candidate->doc, detail);
	list_terms(arena, ranking->query, detail, out);
	list_pairs(arena, ranking->query, detail, out);
	return out;
}
