/** Nearest vectors without looking at all: an inverted file.
 *
 * The vectors are gathered in lists around centres found by spherical k-means (Dhillon and Modha,
 * 2001); a search looks into the lists whose centres are nearest to the query. For the sizes where
 * a scan costs too much; what it finds is nearly, not always, what the scan would.
 *
 * One block of memory without pointers (a *blob*), as the vectors; safe to read from many threads.
 */
#pragma once

#include "engine/vector/vectors.h"

/** Fewer vectors than this are scanned. */
#define IVF_MIN_VECTORS 100000

/** First bytes of a blob: "exivf" and a format number. */
#define IVF_MAGIC UINT64_C(0x0000016676697865)

struct ivf_header {
	uint64_t magic;
	uint64_t length;     /* of the blob, in bytes */
	uint32_t list_count; /* at least 1 */
	uint32_t doc_count;
	uint32_t dimension;
	uint32_t stride; /* elements of a centre's row: the dimension, padded (simd.h) */
};

/** A view of a blob; its parts follow the header in this order. */
struct ivf {
	const struct ivf_header *header;
	const float *scales;    /* by list: what its centre's row is multiplied with */
	const uint32_t *starts; /* list_count + 1: where each list begins in `docs` */
	const uint32_t *docs;   /* list after list, rising in each */
	const int8_t *rows;     /* centres */
	void *owned;            /* the blob when the view frees it; else NULL */
};

/** Gather `vectors` in about sqrt(count) lists. NULL when there are fewer than `least`, or none.
 * Takes about 2 s for 200,000 vectors; once `*stop` has become true no more thought is given to which
 * list a vector belongs to. `stop` may be NULL. */
struct ivf *ivf_make(const struct vectors *vectors, uint32_t least, const atomic_bool *stop);

/** View the blob at `data`, aligned to 8. As segment_open(): borrows or takes; NULL when it is not
 * sound. */
struct ivf *ivf_open(void *data, size_t length, bool takes_data);

/** NULL is fine. */
void ivf_free(struct ivf *ivf);

/** As vectors_scan(). Takes working memory from `arena`. */
size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors,
                  const struct vector_query *query, const struct doc_filter *filter, size_t k,
                  struct arena *arena, struct hit *hits);
