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
 * document.
 *
 * An index consists of several segments, which are searched one after the other. The result must
 * not depend on how the documents are distributed over them. So the statistics (idf, average
 * length) are those of the whole index, and scores are sums of whole numbers, which do not depend
 * on the order of the terms: weights are scaled by lexical_scale(), and each product of weight and
 * impact is rounded.
 */
#pragma once

#include "base/arena.h"
#include "engine/lexical/segment.h"
#include "engine/lexical/topk.h"

/** A term of the query in one segment. */
struct lexical_term {
	uint32_t term; /* its number in the segment */
	float weight;  /* factor of its impact, scaled; above 0 */
};

/** The lengths of the documents of an index. */
struct lexical_norms {
	float average_length;                    /* weighted */
	float by_length[SEGMENT_MAX_LENGTH + 1]; /* bm25_norm() by weighted length */
};

/** Set `norms` for documents of this average length. */
void lexical_norms_set(struct lexical_norms *norms, float average_length);

/** The factor for the weights of a query whose weights have the sum `weight_sum` (> 0). A score is
 * below 2^23 then, so that a float represents it exactly. */
float lexical_scale(float weight_sum);

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

/** What to search a segment for. Borrows. */
struct lexical_query {
	const struct lexical_term *terms; /* all different */
	size_t count;
	const struct lexical_norms *norms;
	const struct doc_filter *filter;
	float floor; /* only greater scores are of interest; 0 or more */
	size_t k;    /* maximum hits, above 0 */
};

/** Write the best documents for `query` to `hits`, which has room for query->k, the best first.
 * Equal scores rank the newer document first. Allocates working memory in `arena`. Returns the
 * number of hits. */
size_t lexical_search(const struct segment *segment, const struct lexical_query *query,
                      struct arena *arena, struct hit *hits);
