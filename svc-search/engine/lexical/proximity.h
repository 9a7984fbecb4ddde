/** Everything that one document's words say for a query: its exact BM25 score, and its word pairs.
 *
 * Words that stand side by side in the query and also near each other in the document are evidence
 * beyond each word alone. A pair that stands N words apart counts 1 / N, up to PROXIMITY_WINDOW, half
 * when turned around; the sum saturates like a frequency of BM25, its weight is the mean of the two
 * words' (after Metzler and Croft, "A Markov random field model for term dependencies", SIGIR 2005,
 * whose ordered and unordered windows this joins into one).
 */
#pragma once

#include "base/arena.h"
#include "engine/lexical/segment.h"
#include "engine/text/parsed_query.h"

/** Words apart that still make a pair; 1 is side by side. */
#define PROXIMITY_WINDOW 2

/** What pairs weigh beside single words. */
#ifndef PROXIMITY_PAIR_WEIGHT
#define PROXIMITY_PAIR_WEIGHT 0.2f
#endif

/** A query made ready for one segment. */
struct proximity_scorer;

struct proximity_score {
	float words;      /* BM25 over the words */
	float pairs;      /* over the pairs, PROXIMITY_PAIR_WEIGHT in it */
	uint64_t matched; /* a bit for each of the query's terms (QUERY_MAX_TERMS) that it holds */
};

/** Make ready; `query` has its idf set and at most QUERY_MAX_TERMS terms. Borrows both and lives
 * in `arena`. */
struct proximity_scorer *proximity_scorer_new(const struct segment *segment,
                                              const struct parsed_query *query,
                                              struct arena *arena);

/** Score `doc`. Not from two threads at once with one scorer. */
struct proximity_score proximity_score_document(struct proximity_scorer *scorer, uint32_t doc);
