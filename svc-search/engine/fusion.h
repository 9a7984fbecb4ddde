/** Combines lexical scores (BM25 and word pairs) and dense scores (cosine of vectors) into one
 * ranking.
 *
 * Each kind of score is divided by its maximum among the candidates, and the two are added, the dense one
 * times a weight. Unlike reciprocal rank fusion, a sum of scores keeps how much better the better
 * document is, which decides when dense scores are weaker than lexical ones.
 *
 * The weight depends on the query. Where the best document by words has all words of the query, somebody is
 * probably looking for this document, and meaning adds little; where no document has them, it helps much. With
 * the *coverage* of the query, the part of the weight of its terms that this document has,
 *
 *     weight = FUSION_DENSE_WEIGHT + (FUSION_DENSE_WEIGHT_COVERED - FUSION_DENSE_WEIGHT) coverage^4
 *
 * The constants were chosen on four collections with questions and one with titles of papers as queries. A
 * weight of 0.4 for all queries is better by .002 on the four, but loses .003 on the fifth
 * (tests/bench/search_quality). Constants chosen on three of the four and tried on the fourth reach a mean of
 * .463; these reach .468 (tests/bench/search_left_out).
 *
 * The sum orders the candidates of one query but is not comparable between queries. *Relevance* is.
 * That of the best candidate is the mean of its cosine and of its BM25 score in relation to that of an
 * average document that contains the eight query words of the greatest weight twice.
 * The relevance of the others is in proportion to their sums. So relevance falls with the rank, lies
 * in 0 to 1, is near 1 for a document that contains everything the query asks for, and near 0 when no
 * document contains its important words. A paper whose id is in the query ranks before all others and
 * is left out of the maxima. For a query that consists of names, papers with all of them rank before the
 * others, whose relevance is then at most that of the paper before.
 *
 * A document that awaits its vector gets a dense score equal to its lexical score.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Weight of the dense score at coverage 0 and at coverage 1; that of the lexical score is 1. */
#ifndef FUSION_DENSE_WEIGHT
#define FUSION_DENSE_WEIGHT 0.8f
#endif
#ifndef FUSION_DENSE_WEIGHT_COVERED
#define FUSION_DENSE_WEIGHT_COVERED 0.2f
#endif

/** Feedback moves the vector of the query toward the mean vector of the best candidates (Rocchio, 1971,
 * applied to dense vectors). This is the number of candidates. */
#define FUSION_FEEDBACK_DOCS 5

/** Weight of the mean vector when it is added to the vector of the query; both have length 1. */
#ifndef FUSION_FEEDBACK
#define FUSION_FEEDBACK 0.6f
#endif

/** A document found by lexical or dense retrieval. */
struct candidate {
	uint32_t part;     /* its number in the view */
	uint32_t doc;      /* in that segment */
	int32_t published; /* among equal sums the newer document ranks first */
	const char *id;    /* and among equally new ones the lesser id */
	float words;       /* BM25 score; see proximity.h */
	float coverage;    /* part of the query's weight whose terms it contains, 0 to 1 */
	float pairs;
	float cosine;       /* a negative cosine is treated as 0 */
	bool awaits_vector; /* has no external vector yet, and so no cosine */
	uint64_t matched;
	bool is_named;      /* its id is in the query: it ranks first, with relevance 1 */
	bool has_all_names; /* of a query that consists of names: it ranks before those without */
	float fused;        /* set by fusion_rank() */
	float relevance;    /* set by fusion_rank() */
};

/** What the scores of the candidates of one query were computed with. */
struct fusion {
	float lexical_max;  /* the maximum by which lexical scores were divided; 0: there is none */
	float cosine_max;   /* the same for cosines */
	float dense_weight; /* 0 if the candidates have no cosines */
	float relevance_factor; /* of `fused`, before the limit by the candidate that ranks before */
};

/** The two parts of `fused`. */
float fusion_lexical(const struct fusion *fusion, const struct candidate *candidate);
float fusion_dense(const struct fusion *fusion, const struct candidate *candidate);

/** Set `fused` and `relevance` of the candidates and sort them, best first. `full_score` (> 0) is the
 * value of `words` at full coverage of the query. `has_dense`: the candidates have cosines. */
struct fusion fusion_rank(struct candidate *candidates, size_t count, float full_score,
                          bool has_dense);
