/** Trains embedders (embedder.h): latent semantic analysis (Deerwester et al., "Indexing by latent
 * semantic analysis", 1990).
 *
 * The corpus is a sparse matrix with one row per document, weighted as embedder.h describes. Its
 * strongest right singular vectors are found by randomised subspace iteration (Halko, Martinsson and
 * Tropp, "Finding structure with randomness", SIAM Review 2011, algorithm 4.4) with a fixed seed, so
 * that training is reproducible: the same sample gives the same bytes (on processors with the same
 * vector instructions, see simd.h).
 */
#pragma once

#include "engine/vector/embedder.h"
#include "engine/vector/sample.h"

#include <stdatomic.h>

/** Dimension of the vectors of a large corpus; a small one gets fewer. */
#define LSA_DIMENSION 160

/** Train on `sample`. Returns NULL when there are fewer than three papers, when no two share a word, or soon
 * after `*cancel` becomes true. `cancel` may be NULL. */
struct embedder *lsa_train(const struct sample *sample, const atomic_bool *cancel);
