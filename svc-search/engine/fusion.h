/** Combines lexical scores (BM25 and word pairs) and dense scores (cosine of vectors) into one
 * ranking.
 *
 * Each kind of score is divided by its maximum among the candidates, and the two are added, the
 * dense one times a weight. Unlike reciprocal rank fusion, a sum of scores keeps how much better
 * the better document is, which decides when dense scores are weaker than lexical ones.
 *
 * The weight depends on the query. Where the best document by words has all words of the query,
 * somebody is probably looking for this document, and meaning adds little; where no document has
 * them, it helps much. With the *coverage* of the query, the part of the weight of its terms that
 * this document has,
 *
 *     weight = FUSION_DENSE_WEIGHT + (FUSION_DENSE_WEIGHT_COVERED - FUSION_DENSE_WEIGHT) coverage^4
 *
 * The constants were chosen on four collections with questions and one with titles of papers as
 * queries. A weight of 0.4 for all queries is better by .002 on the four, but loses .003 on the
 * fifth (tests/bench/search_quality). Constants chosen on three of the four and tried on the fourth
 * reach a mean of .463; these reach .468 (tests/bench/search_left_out).
 *
 * The sum orders the candidates of one query but is not comparable between queries. *Relevance* is.
 * That of the best candidate is the weighted mean of its cosine and of its BM25 score in relation
 * to the full score, that of an average document that contains the three query words of the
 * greatest weight twice:
 *
 *     relevance = (1 - w) min(score / full score, 1) + w cosine
 *
 * Both scores are computed with a smoothed idf (lexical/bm25.h). The weight w is
 * FUSION_COSINE_WEIGHT for an external model. The cosines of the built-in embedder are the smaller,
 * the fewer papers it was trained on, and those of a query of which it knows two words are as great
 * as those of one that it knows all of. So, with n papers and the part of the query's weight whose
 * terms it knows,
 *
 *     w = FUSION_COSINE_WEIGHT n / (n + FUSION_COSINE_PAPERS) known
 *
 * That makes relevance comparable between corpora of different sizes
 * (tests/bench/recommendation/calibration.c). The relevance of the others is in proportion to their
 * sums. So relevance falls with the rank, lies in 0 to 1, is near 1 for a document that contains
 * everything the query asks for, and near 0 when no document contains its important words. A paper
 * whose id is in the query ranks before all others and is left out of the maxima. For a query that
 * consists of names, papers with all of them rank before the others, whose relevance is then at
 * most that of the paper before.
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

/** Weight of the cosine in the relevance of the best candidate, at most, and the number of papers
 * trained on at which it has half of that. */
#define FUSION_COSINE_WEIGHT 0.5f
#define FUSION_COSINE_PAPERS 300

/** Feedback moves the vector of the query toward the mean vector of the best candidates (Rocchio,
 * 1971, applied to dense vectors). This is the number of candidates. */
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
	float smoothed;    /* the same with smoothed idf */
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
	/* of `fused`, before the limit by the candidate that ranks before */
	float relevance_factor;
};

/** The two parts of `fused`. */
float fusion_lexical(const struct fusion *fusion, const struct candidate *candidate);
float fusion_dense(const struct fusion *fusion, const struct candidate *candidate);

/** How the relevance of the best candidate is computed. */
struct relevance_scale {
	float full_score;    /* value of `smoothed` at full coverage of the query, > 0 */
	float cosine_weight; /* 0 to 1, of a candidate that does not await its vector */
};

/** Set `fused` and `relevance` of the candidates and sort them, best first. `has_dense`: the
 * candidates have cosines. */
struct fusion fusion_rank(struct candidate *candidates, size_t count, struct relevance_scale scale,
                          bool has_dense);
