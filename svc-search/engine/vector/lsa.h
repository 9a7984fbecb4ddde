/** Trains embedders (embedder.h): latent semantic analysis (Deerwester et al., "Indexing by latent
 * semantic analysis", 1990).
 *
 * The corpus is a sparse matrix with one row per document, weighted as embedder.h describes. Its
 * strongest right singular vectors are found by randomised subspace iteration (Halko, Martinsson and
 * Tropp, "Finding structure with randomness", SIAM Review 2011, algorithm 4.4) with a fixed seed, so
 * that training is reproducible.
 */
#pragma once

#include "engine/vector/embedder.h"

#include <stdatomic.h>

/** Dimension of the vectors of a large corpus; a small one gets fewer. */
#define LSA_DIMENSION 160

/** Minimum documents to train on. */
#define LSA_MIN_DOCS 20

/** Maximum documents to train on; of a larger corpus, an evenly spaced sample. */
#define LSA_MAX_DOCS 100000

/** Train on `segment`. Takes about 1 s and 40 MB for 10,000 abstracts. Returns NULL when there are fewer
 * than LSA_MIN_DOCS documents, when no two share a word, or soon after `*cancel` becomes true.
 * `cancel` may be NULL. */
struct embedder *lsa_train(const struct segment *segment, const atomic_bool *cancel);
