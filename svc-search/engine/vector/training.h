/** Trains embedders: from a sample of the corpus (sample.h) to an embedder (embedder.h), by latent
 * semantic analysis (lsa.h) and then contrastively (contrastive.h).
 *
 * Training is a pure function: the same sample gives the same bytes and so the same version, with
 * any number of threads, and also when it was interrupted and went on from its checkpoint.
 *
 * From three papers that a user likes, the Recall@50 of the others is .329 by latent semantic
 * analysis alone and .360 with contrastive training (tests/bench/embedder_quality).
 * tests/bench/search_quality prints what queries gain. */
#pragma once

#include "engine/vector/embedder.h"
#include "engine/vector/sample.h"

#include <stdatomic.h>

/** Minimum papers to train on. */
#define TRAINING_MIN_DOCS 20

/** Number of the recipe. Increase it whenever the same sample gives another embedder: the embedders
 * of lower numbers are then replaced. */
#define TRAINING_RECIPE 2

/** Zero-initialised ones are valid. Borrows. */
struct training_options {
	int threads;               /* that work on it; 0: one */
	const char *checkpoint;    /* file of its state, which the caller removes; NULL: none */
	const atomic_bool *cancel; /* may be NULL */
};

/** Train on `sample`, and learn the centroids of a corpus of IVF_MIN_VECTORS papers or more.
 * `options` may be NULL. Takes about 10 s of processor time and 150 MB for 40,000 abstracts, 37 s
 * for 100,000. Returns NULL when there are fewer than TRAINING_MIN_DOCS papers, when no two share a
 * word, or soon after `*cancel` becomes true. A checkpoint is written after the analysis and after
 * each epoch; one that cannot be written is left out. The caller frees the embedder. */
struct embedder *training_run(const struct sample *sample, const struct training_options *options);

/** Write a digest of all that the result of training_run() depends on: two corpora with the same
 * one give the same embedder. */
void training_fingerprint(const struct sample *sample, uint8_t out[SAMPLE_FINGERPRINT_BYTES]);
