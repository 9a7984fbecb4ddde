/** Texts to vectors, by what words occur together: latent semantic analysis.
 *
 * An embedder is trained on a corpus (lsa.h) and then maps any text into the space of its strongest
 * directions: the text's terms, each weighted (1 + ln frequency) x idf and the whole brought to
 * length 1, are projected, and the result is brought to length 1 again. Two texts about one subject
 * come out near each other though they share few words. Inner products of vectors are cosines.
 *
 * It is one block of memory without pointers (a *blob*), as a segment, and safe to read from many
 * threads.
 */
#pragma once

#include "engine/lexical/segment.h"
#include "engine/text/parsed_query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Terms of the largest vocabulary: the commonest of the corpus. */
#define EMBEDDER_MAX_TERMS 50000

/** First bytes of a blob: "exemb" and a format number. */
#define EMBEDDER_MAGIC UINT64_C(0x000001626D657865)

struct embedder_header {
	uint64_t magic;
	uint64_t length;    /* of the blob, in bytes */
	uint32_t dimension; /* of the vectors */
	uint32_t stride;    /* elements of a row: the dimension, padded (simd.h) */
	uint32_t term_count;
	uint32_t slot_count; /* of the hash table of terms, a power of two */
	uint32_t trained_on; /* documents of the corpus that it was trained for */
	uint32_t strings_length;
};

/** A view of a blob; its parts follow the header in this order. */
struct embedder {
	const struct embedder_header *header;
	const int8_t
		*rows; /* term_count x stride: each term's direction, times 127 / its largest */
	const float *scales;     /* by term: what its row is multiplied with */
	const float *idfs;       /* by term */
	const uint32_t *offsets; /* by term: its text in the strings */
	const uint32_t *slots;   /* term number + 1; 0 is free */
	const char *strings;
	void *owned; /* the blob when the embedder frees it; else NULL */
};

/** View the blob at `data`, aligned to 8. As segment_open(): borrows or takes; NULL when it is not
 * sound. */
struct embedder *embedder_open(void *data, size_t length, bool takes_data);

/** NULL is fine. */
void embedder_free(struct embedder *embedder);

/** The embedder's number for each term of `segment`, SEGMENT_NONE for those it does not know. The
 * caller frees it with free(). */
uint32_t *embedder_map(const struct embedder *embedder, const struct segment *segment);

/** The vector of a document, into `out` (the dimension's elements); `map` is from embedder_map()
 * for `segment`. Returns false, and zeros, when it has no term that the embedder knows. */
bool embedder_embed_doc(const struct embedder *embedder, const struct segment *segment,
                        const uint32_t *map, uint32_t doc, float *out);

/** The vector of a query or any text; its idf values are not looked at. */
bool embedder_embed(const struct embedder *embedder, const struct parsed_query *query, float *out);

/** Bring `vector` to length 1; returns false when it is zero. */
bool embedder_normalise(float *vector, size_t dimension);
