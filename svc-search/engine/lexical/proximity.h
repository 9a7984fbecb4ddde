/** Scores one document exactly: BM25 over its terms, and the proximity of pairs of query terms.
 *
 * A pair is two adjacent terms of the query. Where the document has both terms N words apart, N at
 * most PROXIMITY_WINDOW, the pair counts 1 / N, or half of that in the reverse order. The impact of
 * the sum is computed as for a BM25 frequency; its weight is the mean of the weights of the two
 * terms. After Metzler and Croft, "A Markov random field model for term dependencies", SIGIR 2005,
 * with their ordered and unordered windows combined into one.
 */
#pragma once

#include "base/arena.h"
#include "engine/lexical/lexical.h"
#include "engine/text/parsed_query.h"

/** Maximum distance of the two terms of a pair, in words; 1 means adjacent. */
#define PROXIMITY_WINDOW 2

/** Weight of pairs relative to single terms. */
#ifndef PROXIMITY_PAIR_WEIGHT
#define PROXIMITY_PAIR_WEIGHT 0.2f
#endif

/** How much more a word of the title counts for a query that names an author: of 1, 2, 4 and 10 it
 * found .90, .92, .93 and .93 of the papers first (tests/bench/search/author_search.c, every 40th
 * paper). */
#define PROXIMITY_NAMED_TITLE 4

/** A query prepared for one segment. */
struct proximity_scorer;

struct proximity_score {
	float words;      /* BM25 over the terms */
	float smoothed;   /* `words` with smoothed idf (bm25.h) */
	float pairs;      /* over the pairs; includes PROXIMITY_PAIR_WEIGHT */
	uint64_t matched; /* bit i: the document contains term i of the query */
};

/** The fields of a paper that queries are matched with. */
enum paper_field { PAPER_TITLE, PAPER_ABSTRACT, PAPER_AUTHORS, PAPER_FIELDS };

/** What a term of the query adds to `words`. */
struct term_score {
	float score;
	float fields[PAPER_FIELDS]; /* its parts, in proportion to the weighted frequencies */
};

/** What a pair adds to `pairs`. */
struct pair_score {
	uint32_t terms[2]; /* of the query */
	float score;
};

/** Where the score of one document comes from. */
struct proximity_detail {
	struct term_score terms[QUERY_MAX_TERMS];     /* by term of the query */
	struct pair_score pairs[QUERY_MAX_TERMS * 2]; /* those that the document has */
	size_t pair_count;
};

/** Prepare a query, in which idf is set and which has at most QUERY_MAX_TERMS terms. Borrows all
 * three; the scorer is in `arena`. */
struct proximity_scorer *proximity_scorer_new(const struct segment *segment,
                                              const struct lexical_norms *norms,
                                              const struct parsed_query *query,
                                              struct arena *arena);

/** Score document `doc`. One thread may use a scorer at a time. */
struct proximity_score proximity_score_document(struct proximity_scorer *scorer, uint32_t doc);

/** Score document `doc` once more, and write where the score comes from. */
void proximity_explain_document(struct proximity_scorer *scorer, uint32_t doc,
                                struct proximity_detail *detail);
