/** The vectors of a segment's documents, small enough to scan: a byte an element.
 *
 * One block of memory without pointers (a *blob*), as a segment; safe to read from many threads.
 */
#pragma once

#include "engine/lexical/builder.h"
#include "engine/lexical/lexical.h"
#include "engine/lexical/topk.h"
#include "engine/vector/embedder.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** First bytes of a blob: "exvec" and a format number. */
#define VECTORS_MAGIC UINT64_C(0x0000016365767865)

struct vectors_header {
	uint64_t magic;
	uint64_t length; /* of the blob, in bytes */
	uint32_t count;
	uint32_t dimension;
	uint32_t stride;  /* elements of a row: the dimension, padded (simd.h) */
	float background; /* see vectors_collect(); below 1 */
};

struct vectors {
	const struct vectors_header *header;
	const float *scales; /* by document: what its row is multiplied with */
	const int8_t *rows;
	void *owned; /* the blob when the vectors free it; else NULL */
};

/** A query's vector, made ready for inner products. */
struct vector_query {
	int16_t *elements; /* padded with zeros */
	float scale;
};

/** Embed every document of `segment`. The caller frees the vectors; those that were not reached when
 * `*stop` became true are zero. `stop` may be NULL. */
struct vectors *vectors_make(const struct embedder *embedder, const struct segment *segment,
                             const atomic_bool *stop);

/** The vectors that came into `builder` with the documents of `segment`, which it has just made;
 * documents without one have zeros. NULL when none has one. The caller frees them.
 *
 * Many models put all texts into one narrow corner of their space (Ethayarajh, "How contextual are
 * contextualized word representations?", EMNLP 2019), so that a cosine of 0.7 may say nothing. What
 * it says is told by the *background*: the mean cosine of two of the documents, 0 where there are
 * too few to tell. */
struct vectors *vectors_collect(const struct builder *builder, const struct segment *segment);

/** View the blob at `data`, aligned to 8. As segment_open(): borrows or takes; NULL when it is not
 * sound. */
struct vectors *vectors_open(void *data, size_t length, bool takes_data);

/** NULL is fine. */
void vectors_free(struct vectors *vectors);

/** Make `vector`, of length 1 and of the vectors' dimension, ready; in `arena`. */
struct vector_query vector_query_make(const float *vector, size_t dimension, struct arena *arena);

/** A cosine as it stands out from the background: 0 is no nearer than any two documents are, 1 is
 * the same. */
static inline float vectors_above_background(const struct vectors *vectors, float cosine)
{
	float background = vectors->header->background;

	return (cosine - background) / (1.0f - background);
}

/** Cosine of document `doc` and the query. */
float vectors_cosine(const struct vectors *vectors, const struct vector_query *query, uint32_t doc);

/** Write `vector` as bytes: what they times the scale come to is within half a step of 1/127 of its
 * largest. */
void vectors_quantise(const float *vector, size_t dimension, int8_t *row, float *ret_scale);

/** Whether document `doc` has a vector other than zero. */
static inline bool vectors_has(const struct vectors *vectors, uint32_t doc)
{
	return vectors->scales[doc] > 0;
}

/** The elements of document `doc`; NULL: it has no vector, or `vectors` is NULL. */
static inline const int8_t *vectors_row(const struct vectors *vectors, uint32_t doc)
{
	if (vectors == NULL || !vectors_has(vectors, doc))
		return NULL;
	return vectors->rows + (size_t)doc * vectors->header->stride;
}

/** The vector of document `doc` into `out`; of length about 1, or zero. */
void vectors_get(const struct vectors *vectors, uint32_t doc, float *out);

/** The `k` (> 0) documents with the greatest cosines above 0 that `filter` allows, best first, into
 * `hits`, by looking at all. Returns how many. */
size_t vectors_scan(const struct vectors *vectors, const struct vector_query *query,
                    const struct doc_filter *filter, size_t k, struct hit *hits);
