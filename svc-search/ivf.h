/** Nearest vectors without looking at all: an inverted file.
 *
 * The vectors are gathered in lists around centres found by spherical k-means (Dhillon and Modha, 2001); a
 * search looks into the lists whose centres are nearest to the query. For the sizes where a scan costs too
 * much; what it finds is nearly, not always, what the scan would.
 *
 * Made of the vectors whenever they are loaded, never saved. Safe to read from many threads.
 */
#pragma once

#include "vectors.h"

/** Fewer vectors than this are scanned. */
#define IVF_MIN_VECTORS 200000

struct ivf;

/** Gather `vectors` in about sqrt(count) lists. NULL when there are fewer than `least`. Takes some 4 s for
 * 200,000 vectors. */
struct ivf *ivf_make(const struct vectors *vectors, uint32_t least);

/** NULL is fine. */
void ivf_free(struct ivf *ivf);

/** As vectors_scan(); `vector` and `query` are the same query, whole and made ready. Takes working memory
 * from `arena`. */
size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors, const float *vector,
                  const struct vector_query *query, const struct doc_filter *filter, size_t k,
                  struct arena *arena, struct hit *hits);
