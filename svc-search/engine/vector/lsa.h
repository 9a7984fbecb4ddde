/** Trains embedders (embedder.h): latent semantic analysis (Deerwester et al., "Indexing by latent
 * semantic analysis", 1990).
 *
 * The corpus is a sparse matrix, a row a document, weighted as embedder.h says. Its strongest right
 * singular vectors are found by randomised subspace iteration (Halko, Martinsson and Tropp,
 * "Finding structure with randomness", SIAM Review 2011, algorithm 4.4), with a fixed seed.
 */
#pragma once

#include "engine/vector/embedder.h"

#include <stdatomic.h>

/** Directions that are kept of a large corpus. */
#define LSA_DIMENSION 160

/** Documents of the least corpus that is worth training on. */
#define LSA_MIN_DOCS 20

/** Documents that are looked at of a larger corpus, spread evenly over it. */
#define LSA_MAX_DOCS 100000

/** Train on `segment`. Takes about a second and 40 MB for 10,000 abstracts. Returns NULL when there
 * are fewer than LSA_MIN_DOCS documents or no two share a word. */
struct embedder *lsa_train(const struct segment *segment);

/** The same, and NULL soon after `*stop` has become true. `stop` may be NULL. */
struct embedder *lsa_train_until(const struct segment *segment, const atomic_bool *stop);
