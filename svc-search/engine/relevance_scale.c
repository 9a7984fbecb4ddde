#include "engine/relevance_scale.h"

#include "engine/lexical/bm25.h"
#include "engine/vocabulary.h"

/* A document that contains this many of the main terms of a long query covers it fully. With 2, 3,
 * 4 and 8 terms the expected calibration error is at most .077, .068, .104 and .117
 * (tests/bench/calibration.c). */
#define FULL_TERMS 3

/* A text in another script than the Latin one usually says what papers say in Latin letters, and in
 * Chinese each of its characters is a term. Of its words that at most one paper in
 * FOREIGN_FRACTION has, so many are asked of a paper, once each; whether it has others too is no
 * loss. */
#define FOREIGN_TERMS    2
#define FOREIGN_FRACTION 1000

/* The terms that are asked of a paper, with their weights. */
struct asked {
	const struct engine_view *view;
	const struct parsed_query *query;
	size_t foreign; /* terms of FOREIGN_TERMS so far */
};

/* Whether the term has letters other than Latin ones; accents have been removed. */
static bool is_of_other_script(const struct query_term *term)
{
	for (size_t i = 0; i < term->length; i++)
		if ((unsigned char)term->text[i] >= 0x80)
			return true;
	return false;
}

static bool is_foreign(const struct asked *asked, const struct query_term *term)
{
	return !term->is_name && term->count > 0 && is_of_other_script(term) &&
	       vocabulary_df(asked->view, term->text, term->length) <=
	               asked->view->doc_count / FOREIGN_FRACTION;
}

/* The weight of the next term, in the order of the query; 0: it is not asked of a paper. */
static float asked_weight(struct asked *asked, size_t number)
{
	const struct query_term *term = &asked->query->terms[number];
	if (term->is_extra)
		return 0;
	if (!is_foreign(asked, term))
		return term->count * term->smoothed_idf;
	bool is_one_more = asked->foreign++ >= FOREIGN_TERMS;
	return is_one_more ? 0 : MIN_OF(term->count, 1.0f) * term->smoothed_idf;
}

/* The BM25 score with smoothed idf of a document of average length that contains each term that is
 * asked of it twice; of the FULL_TERMS terms of the greatest weight when there are more. */
static float full_score(struct asked asked)
{
	float greatest[FULL_TERMS] = {0};
	float sum = 0;
	for (size_t i = 0; i < asked.query->term_count; i++) {
		float weight = asked_weight(&asked, i);
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

/* The part of the weight of these terms that the embedder knows. */
static float known_part(struct asked asked, const struct embedder *embedder)
{
	float known = 0;
	float all = 0;
	for (size_t i = 0; i < asked.query->term_count; i++) {
		float weight = asked_weight(&asked, i);
		all += weight;
		if (embedder_has_term(embedder, asked.query->terms[i].text))
			known += weight;
	}
	return all > 0 ? known / all : 0;
}

static float cosine_weight(struct asked asked, bool has_vector)
{
	const struct embedder *embedder = asked.view->model->embedder;
	if (!has_vector)
		return 0;
	if (!embedder)
		return FUSION_COSINE_WEIGHT;
	float papers = (float)embedder->header->trained_on;
	return FUSION_COSINE_WEIGHT * papers / (papers + FUSION_COSINE_PAPERS) *
	       known_part(asked, embedder);
}

struct relevance_scale relevance_scale_of(const struct engine_view *view,
                                          const struct parsed_query *query, bool has_vector)
{
	struct asked asked = {.view = view, .query = query};
	return (struct relevance_scale){
		.full_score = full_score(asked),
		.cosine_weight = cosine_weight(asked, has_vector),
	};
}
