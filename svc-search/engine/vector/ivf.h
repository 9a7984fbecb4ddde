/** Approximate nearest-neighbour search with an inverted file (IVF).
 *
 * The vectors are partitioned into lists around centroids, which spherical k-means finds (Dhillon and
 * Modha, 2001). A search scans only the lists whose centroids are nearest to the query. It is used when
 * a full scan is too slow; it finds nearly all of what the scan finds.
 *
 * An inverted file is one block of memory without pointers (a *blob*), like the vectors. Reading it
 * from several threads is safe.
 */
#pragma once

#include "engine/vector/vectors.h"

/** Fewer vectors than this are scanned instead. */
#define IVF_MIN_VECTORS 100000

/** First bytes of a blob: "exivf" and a format number. */
#define IVF_MAGIC UINT64_C(0x0000016676697865)

struct ivf_header {
	uint64_t magic;
	uint64_t length;     /* of the blob, in bytes */
	uint32_t list_count; /* at least 1 */
	uint32_t doc_count;
	uint32_t dimension;
	uint32_t stride; /* elements of a centroid: the dimension, padded (simd.h) */
};

/** A view of a blob; its parts follow the header in this order. */
struct ivf {
	const struct ivf_header *header;
	const float *scales;    /* by list: factor that restores the row of its centroid */
	const uint32_t *starts; /* list_count + 1: where each list starts in `docs` */
	const uint32_t *docs;   /* the lists in turn, ascending document numbers in each */
	const int8_t *rows;     /* list_count x stride: the centroids, quantised to bytes */
	void *owned;            /* the blob if the inverted file frees it; else NULL */
};

/** Partition `vectors` into about sqrt(count) lists. Returns NULL when there are none, or fewer than
 * `min_count`. Takes about 2 s for 200,000 vectors. Once `*cancel` is true the remaining vectors go to
 * list 0, and the caller discards the result. `cancel` may be NULL. */
struct ivf *ivf_make(const struct vectors *vectors, uint32_t min_count, const atomic_bool *cancel);

/** View the blob at `data`, aligned to 8. Borrows it, or takes it when `takes_data` is set, as
 * segment_open(). Returns NULL when it is invalid. */
struct ivf *ivf_open(void *data, size_t length, bool takes_data);

/** Accepts NULL. */
void ivf_free(struct ivf *ivf);

/** As vectors_scan(), but approximate. Takes working memory from `arena`. */
size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors,
                  const struct vector_query *query, const struct doc_filter *filter, size_t k,
                  float floor, struct arena *arena, struct hit *hits);
