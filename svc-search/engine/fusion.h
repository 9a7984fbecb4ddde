/** One ranking from two: words (BM25 and word pairs) and meaning (cosine of vectors).
 *
 * Each side is divided by its greatest value among the candidates, and the two are added, the dense
 * side times FUSION_DENSE_WEIGHT. Adding scores keeps what adding ranks (reciprocal rank fusion)
 * throws away, how much better the better one is; with a dense side weaker than the lexical one
 * that decides. The constants were chosen on four collections, and hardly matter: from 0.3 to 0.6
 * nDCG@10 moves by less than 0.02 on each. Constants chosen on three of the four and tried on the one
 * left out reach .458 in the mean, these .459 (tests/bench/search_left_out).
 *
 * The order within one query comes from that sum, which says nothing across queries. *Relevance*
 * does: the best candidate's is its strength, the mean of its coverage (the part of the query's
 * weight that its words answer; the whole is the eight most telling words occurring twice in an
 * average document) and its cosine; the others' is in proportion to their sums. So it falls with
 * the rank, lies in 0 to 1, is near 1 for a document that holds all that is asked for, and near 0
 * where the query's telling words are nowhere. A paper whose id the query names is asked for outright:
 * it comes before all others and does not count for them.
 *
 * Of a document that has no vector yet, the dense side is taken to say what the words say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the dense side weighs beside the lexical one. */
#ifndef FUSION_DENSE_WEIGHT
#define FUSION_DENSE_WEIGHT 0.4f
#endif

/** The query's vector is moved toward the mean of the best candidates', so many of them... */
#define FUSION_FEEDBACK_DOCS 5

/** ...by this much of its own length (Rocchio's feedback, 1971, in the dense space). */
#ifndef FUSION_FEEDBACK
#define FUSION_FEEDBACK 0.6f
#endif

/** One document that either side proposed. */
struct candidate {
	uint32_t part;     /* of the view: which segment */
	uint32_t doc;      /* in that segment */
	int32_t published; /* of equal sums the newer is better */
	const char *id;    /* and of those the lesser id */
	float words;       /* BM25; see proximity.h */
	float pairs;
	float cosine; /* below 0 counts as 0 */
	bool is_bare; /* it has no vector yet, and so no cosine */
	uint64_t matched;
	bool is_named;   /* the query holds its id: before all others, and of relevance 1 */
	float fused;     /* set by fusion_rank() */
	float relevance; /* set by fusion_rank() */
};

/** Set `fused` and `relevance` of the candidates and put the best first. `full_score` (> 0) is what
 * `words` is when the document answers the query fully. */
void fusion_rank(struct candidate *candidates, size_t count, float full_score, bool has_dense);
