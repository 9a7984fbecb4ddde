#include "engine/relevance_scale.h"

#include "base/base.h"
#include "engine/lexical/bm25.h"
#include "engine/vocabulary.h"

/* A document that contains this many of the main terms of a long query covers it fully. With 2, 3,
 * 4 and 8 terms the expected calibration error is at most .077, .068, .104 and .117
 * (tests/bench/recommendation/calibration.c). */
#define FULL_TERMS 3

/* A text in another script than the Latin one usually says what papers say in Latin letters, and in
 * Chinese each of its characters is a term. Of its words that at most one paper in
 * FOREIGN_FRACTION has, so many are asked of a paper, once each; whether it has others too is no
 * loss. */
#define FOREIGN_TERMS    2
#define FOREIGN_FRACTION 1000

/* Whether the term has letters other than Latin ones; accents have been removed. */
static bool is_of_other_script(const struct query_term *term)
{
	for (size_t i = 0; i < term->length; i++)
		if ((unsigned char)term->text[i] >= 0x80)
			return true;
	return false;
}

static bool is_foreign(const struct engine_view *view, const struct query_term *term)
{
	return !term->is_name && term->count > 0 && is_of_other_script(term) &&
	       vocabulary_df(view, term->text, term->length) <= view->doc_count / FOREIGN_FRACTION;
}

/* Set the weight of each term that is asked of a paper; 0: the term is not. */
static void weigh(const struct engine_view *view, const struct parsed_query *query, float *weights)
{
	size_t foreign = 0;
	for (size_t i = 0; i < query->term_count; i++) {
		const struct query_term *term = &query->terms[i];
		weights[i] = term->is_extra ? 0 : term->count * term->smoothed_idf;
		if (!term->is_extra && is_foreign(view, term))
			weights[i] = foreign++ < FOREIGN_TERMS
			                     ? MIN_OF(term->count, 1.0f) * term->smoothed_idf
			                     : 0;
	}
}

/* The BM25 score with smoothed idf of a document of average length that contains each term that is
 * asked of it twice; of the FULL_TERMS terms of the greatest weight when there are more. */
static float full_score(const float *weights, size_t count)
{
	float greatest[FULL_TERMS] = {0};
	float sum = 0;
	for (size_t i = 0; i < count; i++) {
		float weight = weights[i];
		for (size_t at = 0; at < FULL_TERMS; at++) {
			float less = MIN_OF(weight, greatest[at]);
			greatest[at] = MAX_OF(weight, greatest[at]);
			weight = less;
		}
	}
	for (size_t at = 0; at < FULL_TERMS; at++)
		sum += greatest[at];
	return MAX_OF(sum * bm25_impact(2, bm25_norm(1, 1)), 1e-6f);
}

/* The part of the weight that is of terms that the embedder knows. */
static float known_part(const struct parsed_query *query, const float *weights,
                        const struct embedder *embedder)
{
	float known = 0;
	float all = 0;
	for (size_t i = 0; i < query->term_count; i++) {
		all += weights[i];
		if (weights[i] > 0 && embedder_has_term(embedder, query->terms[i].text))
			known += weights[i];
	}
	return all > 0 ? known / all : 0;
}

static float cosine_weight(const struct embedder *embedder, const struct parsed_query *query,
                           const float *weights)
{
	if (!embedder)
		return FUSION_COSINE_WEIGHT;
	float papers = (float)embedder->header->trained_on;
	return FUSION_COSINE_WEIGHT * papers / (papers + FUSION_COSINE_PAPERS) *
	       known_part(query, weights, embedder);
}

struct relevance_scale relevance_scale_of(const struct engine_view *view,
                                          const struct parsed_query *query, bool has_vector)
{
	float weights[QUERY_MAX_TERMS];
	require(query->term_count <= QUERY_MAX_TERMS);
	weigh(view, query, weights);
	const struct embedder *embedder = view->model->embedder;
	return (struct relevance_scale){
		.full_score = full_score(weights, query->term_count),
		.cosine_weight = has_vector ? cosine_weight(embedder, query, weights) : 0,
	};
}
