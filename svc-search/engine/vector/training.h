/** Trains embedders: from a sample of the corpus (sample.h) to an embedder (embedder.h).
 *
 * Training is a pure function: the same sample gives the same bytes and so the same version. A method is
 * a function from a sample to an embedder that writes it with embedder_draft.h; there is one at present,
 * latent semantic analysis (lsa.h). */
#pragma once

#include "engine/vector/embedder.h"
#include "engine/vector/sample.h"

#include <stdatomic.h>

/** Minimum papers to train on. */
#define TRAINING_MIN_DOCS 20

/** Train on `sample`, and learn the centroids of a corpus of IVF_MIN_VECTORS papers or more. Takes about
 * 1 s and 40 MB for 10,000 abstracts. Returns NULL when there are fewer than TRAINING_MIN_DOCS papers,
 * when no two share a word, or soon after `*cancel` becomes true. `cancel` may be NULL. The caller
 * frees the embedder. */
struct embedder *training_run(const struct sample *sample, const atomic_bool *cancel);

/** Write a digest of all that the result of training_run() depends on: two corpora with the same one
 * give the same embedder. */
void training_fingerprint(const struct sample *sample, uint8_t out[SAMPLE_FINGERPRINT_BYTES]);
