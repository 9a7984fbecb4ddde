/** Explains a hit: the numbers that its relevance was computed from, and the words and fields that
 * they come from.
 *
 *     lexical score = sum of the terms + sum of the pairs    (lexical/proximity.h)
 *     fused         = lexical score / its maximum + weight * cosine / its maximum    (fusion.h)
 *     relevance     = fused * factor, at most that of the hit before; 1 for a paper whose id is in
 *                   the query
 *
 * The maxima are those of the candidates; without one the quotient is 0, as for a cosine below 0.
 * In place of the cosine's quotient, a paper that awaits its vector has that of its lexical
 * score. */
#pragma once

#include "base/arena.h"
#include "engine/fusion.h"
#include "engine/lexical/proximity.h"

/** A term of the query that the paper has. */
struct explained_term {
	const char *word; /* as it is in the query */
	const char *text; /* as the index has it */
	float weight;     /* occurrences in the query times idf */
	struct term_score score;
};

/** Two adjacent terms of the query that the paper has near each other. */
struct explained_pair {
	const char *words[2];
	float score;
};

/** All candidates of a search, in the order of their ranks. Borrows. */
struct ranking {
	const struct candidate *candidates;
	size_t count;
	struct fusion fusion;
	struct relevance_scale scale;
	bool has_dense; /* the candidates have cosines */
	const struct parsed_query *query;
};

struct hit_explanation {
	struct fusion fusion;
	struct relevance_scale scale;
	bool has_dense;
	bool is_named; /* its id is in the query */
	bool awaits_vector;
	float words;    /* sum of the terms */
	float smoothed; /* the same with smoothed idf */
	float pairs;    /* sum of the pairs */
	float cosine;   /* with the query moved by feedback */
	uint32_t
		lexical_rank; /* from 1, by lexical score among the candidates; 0: the score is 0 */
	uint32_t dense_rank;  /* the same by cosine */
	float fused;
	float relevance_limit;        /* the relevance of the hit before; 1 for the first */
	struct explained_term *terms; /* by descending score */
	size_t term_count;
	struct explained_pair *pairs_found; /* the same */
	size_t pair_count;
};

/** Explain candidate number `at`. `scorer` is that of its part. In `arena`, with texts of the
 * query. */
struct hit_explanation *hit_explain(struct arena *arena, const struct ranking *ranking, size_t at,
                                    struct proximity_scorer *scorer);
