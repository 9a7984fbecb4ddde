/** Approximate nearest-neighbour search with an inverted file (IVF).
 *
 * Vectors are partitioned into lists around centroids (centroids.h). A search scans only the lists
 * whose centroids are nearest to the query. It is used when a full scan is too slow; it finds
 * nearly all of what the scan finds. The rows of the vectors are in the order of the lists.
 *
 * The centroids are those of the embedder, so that a search looks at the same vectors whatever
 * parts the index has. Vectors of an external embedder have none in common: there, each inverted
 * file has its own centroids.
 *
 * An inverted file is one block of memory without pointers (a *blob*), like the vectors. Reading it
 * from several threads is safe.
 */
#pragma once

#include "engine/vector/centroids.h"
#include "engine/vector/vectors.h"

/** A corpus of fewer papers, or a part with fewer external vectors, is scanned instead. */
#define IVF_MIN_VECTORS 100000

/** First bytes of a blob: "exivf" and a format number. */
#define IVF_MAGIC UINT64_C(0x0000026676697865)

struct ivf_header {
	uint64_t magic;
	uint64_t length;     /* of the blob, in bytes */
	uint32_t list_count; /* at least 1 */
	uint32_t doc_count;
	uint32_t dimension;
	uint32_t stride;        /* elements of a centroid: the dimension, padded (simd.h) */
	uint32_t has_centroids; /* 1: its own; 0: those of the embedder */
	uint32_t reserved;
};

/** A view of a blob; its parts follow the header in this order. */
struct ivf {
	const struct ivf_header *header;
	const uint32_t *starts; /* list_count + 1: where each list starts in `docs` */
	const uint32_t *docs;   /* the lists in turn, ascending document numbers in each */
	struct centroids own;   /* empty: those of the embedder */
	void *owned;            /* the blob if the inverted file frees it; else NULL */
};

/** Partition `vectors` around `centroids`, and put their rows in the order of the lists
 * (vectors_order()); NULL when there are none of the one or the other. `lists` has the list of each
 * document, or SEGMENT_NONE where it is not known; NULL: none is. Once `*cancel` is true the
 * remaining vectors go to list 0, and the caller discards the result. `cancel` may be NULL. */
struct ivf *ivf_make(struct vectors *vectors, const struct centroids *centroids,
                     const uint32_t *lists, const atomic_bool *cancel);

/** The same with about sqrt(count) centroids of its own. NULL when there are fewer than `min_count`
 * vectors, or none. */
struct ivf *ivf_make_alone(struct vectors *vectors, uint32_t min_count, const atomic_bool *cancel);

/** The list of each document. The caller frees them. */
uint32_t *ivf_lists(const struct ivf *ivf);

/** View the blob at `data`, aligned to 8. Borrows it, or takes it when `takes_data` is set, as
 * segment_open(). Returns NULL when it is invalid. */
struct ivf *ivf_open(void *data, size_t length, bool takes_data);

/** Accepts NULL. */
void ivf_free(struct ivf *ivf);

/** The lists that a search scans. */
struct ivf_probes {
	const uint32_t *lists;
	size_t count;
};

/** The lists whose centroids are nearest to the query; in `arena`. */
struct ivf_probes ivf_probe(const struct centroids *centroids, const struct vector_query *query,
                            struct arena *arena);

/** As vectors_scan(), but approximate, of vectors in the order of the lists. `probes` are of the
 * centroids of the embedder, and are not used when the inverted file has its own. Takes working
 * memory from `arena`. */
size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors,
                  const struct ivf_probes *probes, const struct vector_query *query,
                  const struct doc_filter *filter, size_t k, float floor, struct arena *arena,
                  struct hit *hits);
