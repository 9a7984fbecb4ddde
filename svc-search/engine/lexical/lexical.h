/** The documents of one segment that score best by BM25, found without scoring all.
 *
 * The documents are gone through window by window. In each, the terms' block maxima bound what a
 * document can reach: terms whose bounds together stay below the worst score kept so far are only
 * looked up for documents that the others brought (MaxScore: Turtle and Flood, "Query evaluation:
 * strategies and optimizations", 1995), and a window whose bound does not reach it is skipped
 * whole. The result is that of scoring every document, up to rounding.
 */
#pragma once

#include "base/arena.h"
#include "engine/lexical/segment.h"
#include "engine/lexical/topk.h"

/** A query's term in one segment. */
struct lexical_term {
	uint32_t term; /* its number in the segment */
	float weight;  /* what its impact is multiplied with; above 0 */
};

/** Which documents may be found. */
struct doc_filter {
	const uint64_t *bits; /* a bit a document, (doc_count + 63) / 64 words; NULL allows all */
	uint32_t below;       /* only numbers below this; at most the segment's doc_count */
};

static inline bool doc_filter_allows(const struct doc_filter *filter, uint32_t doc)
{
	return doc < filter->below &&
	       (!filter->bits || (filter->bits[doc / 64] >> (doc % 64) & 1) != 0);
}

/** The best `k` (> 0) documents for `terms` (no two the same), the best first, into `hits`, which
 * has room for `k`. Equal scores rank the newer first. Takes working memory from `arena`. Returns
 * how many. */
size_t lexical_search(const struct segment *segment, const struct lexical_term *terms, size_t count,
                      const struct doc_filter *filter, size_t k, struct arena *arena,
                      struct hit *hits);
