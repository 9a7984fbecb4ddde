/** svc-search/engine/vector/: dense vectors of papers and queries.
 *
 * embedder.h turns texts into vectors. training.h trains it on a sample of the corpus (sample.h):
 * by latent semantic analysis (lsa.h), then on pairs of texts (pairs.h, contrastive.h,
 * checkpoint.h); vectors.h stores the vectors of a segment and scans them; ivf.h searches large
 * sets of them approximately, by lists around centroids (centroids.h); simd.h and linalg.h are the
 * arithmetic.
 *
 * An embedder has a vector for each term. The vector of a text is the sum of those of its terms,
 * each weighted 1 + ln frequency, scaled to length 1. Texts on the same subject get similar vectors
 * even when they share few words. The inner product of two vectors is their cosine.
 *
 * An embedder is one block of memory without pointers (a *blob*), like a segment. Reading it from
 * several threads is safe. Its *version* names the bytes of the blob: vectors are comparable only
 * if they were made by the same version.
 */
#pragma once

#include "engine/lexical/segment.h"
#include "engine/text/parsed_query.h"
#include "engine/vector/centroids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Tokens of a document that its vector is computed from; later tokens are ignored. */
#define EMBEDDER_DOC_TOKENS 2048

/** First bytes of a blob: "exemb" and a format number. */
#define EMBEDDER_FORMAT 2
#define EMBEDDER_MAGIC  (UINT64_C(0x626D657865) | (uint64_t)EMBEDDER_FORMAT << 40)

/** Room for the version of an embedder, such as `infonce-160-5c01a7f3d2b40e96`, with its NUL. */
#define EMBEDDER_VERSION_BYTES 48

struct embedder_header {
	uint64_t magic;
	uint64_t length;    /* of the blob, in bytes */
	char method[8];     /* of its training, such as "infonce" */
	uint32_t dimension; /* of the vectors */
	uint32_t stride;    /* elements of a row: the dimension, padded (simd.h) */
	uint32_t term_count;
	uint32_t slot_count;     /* of the hash table of terms, a power of two */
	uint32_t trained_on;     /* number of documents of the corpus */
	uint32_t strings_length; /* a multiple of 4 */
	uint32_t list_count;     /* number of centroids; 0: a scan is quick */
	uint32_t reserved;
};

/** A view of a blob; its parts follow the header in this order. */
struct embedder {
	const struct embedder_header *header;
	const int8_t *rows;   /* term_count x stride: the vector of each term, quantised to bytes */
	const float *scales;  /* by term: factor that restores its row */
	const float *weights; /* by term: factor of its vector */
	const uint32_t *offsets; /* by term: offset of its text in the strings */
	const uint32_t *slots;   /* term number + 1; 0 is free */
	const char *strings;
	struct centroids centroids; /* of the lists of all inverted files (ivf.h) */
	char version[EMBEDDER_VERSION_BYTES];
	void *owned; /* the blob if the embedder frees it; else NULL */
};

/** A term and its weighted frequency in a document. */
struct term_frequency {
	uint32_t term;
	float frequency;
};

/** View the blob at `data`, aligned to 8. Borrows it, or takes it when `takes_data` is set, as
 * segment_open(). Returns NULL when it is invalid. */
struct embedder *embedder_open(void *data, size_t length, bool takes_data);

/** Accepts NULL. */
void embedder_free(struct embedder *embedder);

/** The same embedder with centroids; it must have none. Copies them. Takes `embedder`. */
struct embedder *embedder_with_centroids(struct embedder *embedder,
                                         const struct centroids *centroids);

/** The embedder's number of each term of `segment`; SEGMENT_NONE for terms out of its vocabulary.
 * The caller frees it with free(). */
uint32_t *embedder_map_terms(const struct embedder *embedder, const struct segment *segment);

/** Write the vector of a document to `out` (`dimension` elements). `map` is from
 * embedder_map_terms() of `segment`. `terms` is working memory for EMBEDDER_DOC_TOKENS elements,
 * which the caller allocates once for many documents: it is too large for a stack frame. Returns
 * false, and writes zeros, when no term of the document is in the vocabulary. */
bool embedder_embed_doc(const struct embedder *embedder, const struct segment *segment,
                        const uint32_t *map, uint32_t doc, struct term_frequency *terms,
                        float *out);

/** The same for `count` tokens, in any order; sorts them. */
bool embedder_embed_terms(const struct embedder *embedder, struct term_frequency *terms,
                          size_t count, float *out);

/** The same for a query or any text. Ignores the idf values of `parsed`. */
bool embedder_embed(const struct embedder *embedder, const struct parsed_query *parsed, float *out);

/** Whether the term is in the vocabulary. */
bool embedder_has_term(const struct embedder *embedder, const char *text);

/** Scale `vector` to length 1. Returns false, and leaves it, when it is zero. */
bool embedder_normalise(float *vector, size_t dimension);
