/** The vectors of the documents of a segment, quantised to one byte per element so that a full scan
 * is fast.
 *
 * They are one block of memory without pointers (a *blob*), like a segment. Reading it from several
 * threads is safe.
 */
#pragma once

#include "engine/lexical/builder.h"
#include "engine/lexical/lexical.h"
#include "engine/lexical/topk.h"
#include "engine/vector/embedder.h"
#include "engine/vector/sample.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** First bytes of a blob: "exvec" and a format number. */
#define VECTORS_MAGIC UINT64_C(0x0000026365767865)

/** Greatest dimension; see simd_dot_rows(). */
#define VECTORS_MAX_DIMENSION 4096

struct vectors_header {
	uint64_t magic;
	uint64_t length; /* of the blob, in bytes */
	uint32_t count;
	uint32_t dimension;
	uint32_t stride;       /* elements of a row: the dimension, padded (simd.h) */
	float background;      /* see vectors_collect(); below 1 */
	uint32_t is_reordered; /* 1: the rows are in the order of lists, see vectors_order() */
	uint32_t reserved;
};

struct vectors {
	const struct vectors_header *header;
	const float
		*scales; /* by row: factor that restores it; 0 when its document has no vector */
	const int8_t *rows;
	const uint32_t *rows_by_doc; /* by document: its row; NULL: the document's own number */
	void *owned;                 /* the blob if the vectors free it; else NULL */
};

/** The vector of a query, quantised for inner products. */
struct vector_query {
	int16_t *elements; /* padded with zeros */
	float scale;
};

/** Embed the documents of `segment`, except those whose vectors were added to `builder`, which has
 * just built the segment: these are copied. `builder` may be NULL. The caller frees the vectors.
 * Once `*cancel` is true, the remaining vectors stay zero. `cancel` may be NULL. */
struct vectors *vectors_make(const struct embedder *embedder, const struct segment *segment,
                             const struct builder *builder, const atomic_bool *cancel);

/** Embed the papers of `sample`, by an embedder of its terms. The caller frees the vectors. Once
 * `*cancel` is true, the remaining vectors stay zero. `cancel` may be NULL. */
struct vectors *vectors_of_sample(const struct embedder *embedder, const struct sample *sample,
                                  const atomic_bool *cancel);

/** The external vectors that were added to `builder` with the documents of `segment`, which it has
 * just built. Documents without a vector get zeros. NULL when no document has one. The caller frees
 * them.
 *
 * Many models put all texts into a narrow cone of their space (Ethayarajh, "How contextual are
 * contextualized word representations?", EMNLP 2019), where a cosine of 0.7 can be no more than
 * average. So cosines are compared with the *background*: the mean cosine of two documents, or 0
 * when there are too few documents to measure it. */
struct vectors *vectors_collect(const struct builder *builder, const struct segment *segment);

/** View the blob at `data`, aligned to 8. Borrows it, or takes it when `takes_data` is set, as
 * segment_open(). Returns NULL when it is invalid. */
struct vectors *vectors_open(void *data, size_t length, bool takes_data);

/** Accepts NULL. */
void vectors_free(struct vectors *vectors);

/** Put the rows in the order of `docs`, which has each document once, so that a scan of consecutive
 * `docs` reads consecutive memory. The vectors own their blob and are in the order of documents. */
void vectors_order(struct vectors *vectors, const uint32_t *docs);

/** Quantise `vector`, of length 1 and of the dimension of the vectors. The result is in `arena`. */
struct vector_query vector_query_make(const float *vector, size_t dimension, struct arena *arena);

/** A cosine relative to the background: 0 for the mean of two documents, 1 for equal vectors. */
static inline float vectors_above_background(float background, float cosine)
{
	return (cosine - background) / (1.0f - background);
}

/** Cosine of document `doc` and the query. */
float vectors_cosine(const struct vectors *vectors, const struct vector_query *query, uint32_t doc);

/** Quantise `vector` to bytes. An element times the scale differs from the original by at most
 * 1/254 of the greatest magnitude. Writes nothing to `row` when the vector is zero. */
void vectors_quantise(const float *vector, size_t dimension, int8_t *row, float *ret_scale);

/** The number of the row of document `doc`. */
static inline size_t vectors_row_number(const struct vectors *vectors, uint32_t doc)
{
	return vectors->rows_by_doc ? vectors->rows_by_doc[doc] : doc;
}

/** Whether document `doc` has a vector other than zero. */
static inline bool vectors_has(const struct vectors *vectors, uint32_t doc)
{
	return vectors->scales[vectors_row_number(vectors, doc)] > 0;
}

/** The quantised elements of document `doc`; NULL when it has no vector or `vectors` is NULL. */
static inline const int8_t *vectors_row(const struct vectors *vectors, uint32_t doc)
{
	if (!vectors || !vectors_has(vectors, doc))
		return NULL;
	return vectors->rows + vectors_row_number(vectors, doc) * vectors->header->stride;
}

/** Write the vector of document `doc`, of length about 1 or zero, to `out`. */
void vectors_get(const struct vectors *vectors, uint32_t doc, float *out);

/** Offer to `top` the documents of the rows from `first` up to, not including, `last` that `filter`
 * allows, with their cosines. `docs` has the document of each row; NULL: the row's own number. */
void vectors_offer(const struct vectors *vectors, const struct vector_query *query, uint32_t first,
                   uint32_t last, const uint32_t *docs, const struct doc_filter *filter,
                   struct topk *top);

/** Write to `hits` the `k` (> 0) documents with the greatest cosines above `floor` (0 or more) that
 * `filter` allows, best first, by a scan of all vectors, which are in the order of documents.
 * Returns how many. */
size_t vectors_scan(const struct vectors *vectors, const struct vector_query *query,
                    const struct doc_filter *filter, size_t k, float floor, struct hit *hits);
