/** Term vectors by latent semantic analysis (Deerwester et al., "Indexing by latent semantic
 * analysis", 1990), from which contrastive training (contrastive.h) begins.
 *
 * The corpus is a sparse matrix with one row per document: (1 + ln frequency) x idf of its terms,
 * scaled to length 1. Its strongest right singular vectors are found by randomised subspace
 * iteration (Halko, Martinsson and Tropp, "Finding structure with randomness", SIAM Review 2011,
 * algorithm 4.4) with a fixed seed, so that training is reproducible: the same sample gives the
 * same bytes (on processors with the same vector instructions, see simd.h). The vector of a term is
 * its row of these, each scaled by a power of its singular value, times the idf of the term.
 */
#pragma once

#include "engine/vector/sample.h"
#include "engine/vector/term_vectors.h"

#include <stdatomic.h>
#include <stdbool.h>

/** Dimension of the vectors of a large corpus; a small one gets fewer. */
#define LSA_DIMENSION 160

/** Train on `sample`. The caller frees the rows. Returns false when there are fewer than three
 * papers, when no two share a word, or soon after `*cancel` becomes true. `cancel` may be NULL. */
bool lsa_train(const struct sample *sample, const atomic_bool *cancel,
               struct term_vectors *ret_vectors);
