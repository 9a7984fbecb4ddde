/** svc-search/engine/lexical/: the inverted index and BM25 retrieval.
 *
 *     builder.h    builds a segment from documents
 *     segment.h    the immutable index: documents, terms, posting lists (postings.h)
 *     lexical.h    lexical_search(): the best documents of a segment by BM25 (bm25.h, topk.h)
 *     proximity.h  the exact score of one document, with the proximity of terms
 *     spelling.h   correction of misspelled query terms
 *
 * lexical_search() finds the documents with the best BM25 scores without scoring all of them. It
 * processes the documents in windows. In each window the largest impacts of the posting blocks give
 * an upper bound for the score of each term. Terms whose bounds together do not exceed the worst
 * score kept so far are *non-essential*: they are looked up only for documents that contain another
 * term (MaxScore: Turtle and Flood, "Query evaluation: strategies and optimizations", 1995). If all
 * terms are non-essential, the window is skipped. The result is the same as that of scoring every
 * document, up to rounding.
 */
#pragma once

#include "base/arena.h"
#include "engine/lexical/segment.h"
#include "engine/lexical/topk.h"

/** A term of the query in one segment. */
struct lexical_term {
	uint32_t term; /* its number in the segment */
	float weight;  /* factor of its impact; above 0 */
};

/** The documents that a search may return. */
struct doc_filter {
	const uint64_t *bits; /* one for each document, in (doc_count + 63) / 64 words; NULL: all */
	uint32_t below;       /* and only numbers below this; at most the segment's doc_count */
};

static inline bool doc_filter_allows(const struct doc_filter *filter, uint32_t doc)
{
	return doc < filter->below &&
	       (!filter->bits || (filter->bits[doc / 64] >> (doc % 64) & 1) != 0);
}

/** Write the best `k` (> 0) documents for `terms`, which are all different, to `hits`, the best
 * first. `hits` has room for `k`. Equal scores rank the newer document first. Allocates working
 * memory in `arena`. Returns the number of hits. */
size_t lexical_search(const struct segment *segment, const struct lexical_term *terms, size_t count,
                      const struct doc_filter *filter, size_t k, struct arena *arena,
                      struct hit *hits);
