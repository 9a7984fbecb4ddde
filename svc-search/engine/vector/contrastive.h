/** Contrastive training of term vectors: texts from one paper get similar vectors, texts from
 * different papers dissimilar ones.
 *
 * In every epoch each paper gives one pair of texts (pairs.h). The pairs are shuffled and cut into
 * batches. The vector of a text is the sum of those of its terms, each times its weight, scaled to
 * length 1. In a batch, the texts of the other pairs are the negatives of a text. The cosines are
 * divided by a temperature, and the loss is the sum over the pairs of the mean of two cross
 * entropies, of the softmax of the row and of the column (InfoNCE: van den Oord, Li and Vinyals,
 * "Representation learning with contrastive predictive coding", 2018; in both directions: Radford
 * et al., "Learning transferable visual models", ICML 2021):
 *
 *     S = a b' / temperature,  P, Q the softmax of its rows and columns
 *     D = (P + Q - 2 I) / (2 temperature),  da = D b,  db = D' a
 *
 * The step is Adagrad's (Duchi, Hazan and Singer, JMLR 2011) with one scale for each term. So
 * frequent terms move less, and a rate that falls to 0 needs no tuning.
 *
 * The result depends only on the sample and the initial vectors, not on the number of threads: each
 * sum is computed by one thread in a fixed order. (Its last bits can differ between processors with
 * different vector instructions, see simd.h.)
 */
#pragma once

#include "engine/text/parallel.h"
#include "engine/vector/sample.h"
#include "engine/vector/term_vectors.h"

#include <stdatomic.h>
#include <stdbool.h>

/** The training at the end of an epoch: all that the next one depends on. */
struct contrastive_state {
	struct term_vectors vectors;
	float *squares;  /* by term: the sum of its mean squared gradients */
	uint32_t epochs; /* done */
};

/** Begin with `vectors`, whose rows it takes, scaled so that their elements have a root mean square
 * of 1. */
struct contrastive_state contrastive_begin(struct term_vectors vectors);

/** Free the arrays. */
void contrastive_end(struct contrastive_state *state);

/** Epochs for this sample, 5 to 20: fewer for more papers. */
uint32_t contrastive_epochs(const struct sample *sample);

/** Train one more epoch, of contrastive_epochs(). Returns false, with an unfinished state, soon
 * after `*cancel` becomes true. `cancel` may be NULL. */
bool contrastive_epoch(struct contrastive_state *state, const struct sample *sample,
                       struct parallel *parallel, const atomic_bool *cancel);
