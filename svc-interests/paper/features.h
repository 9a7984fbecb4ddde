/** Represents a paper as a feature vector, for comparing papers and for learning.
 *
 * The vector has two blocks: a weight for each term of the paper's bag (bag.h), and the dense
 * embedding of the paper when there is one. The weight of a term is (1 + ln occurrences) * idf; the
 * idf comes from the frequency table (frequency.h).
 *
 * The block of terms is scaled to length 1, the dense block to length FEATURES_DENSE_SCALE, and
 * then the whole vector to length 1. The dot product of two vectors is therefore their cosine
 * similarity: 1 for equal papers, 0 for papers that share nothing.
 *
 * Features are immutable.
 */
#pragma once

#include "base/arena.h"
#include "paper/bag.h"
#include "paper/frequency.h"

#include <stddef.h>
#include <stdint.h>

/** Length of the dense block, relative to the block of terms. Of 0.5, 0.7, 1 and 1.5 the first gave
 * the best result on CiteULike with 128 dimensions of latent semantic analysis
 * (tests/bench/recommendation/preference_quality.c). */
#define FEATURES_DENSE_SCALE 0.5

/** Dimensions of a dense vector at most. */
#define FEATURES_DENSE_MAX 4096

struct feature {
	uint32_t id;
	float weight;
};

/** Features in ascending order of id, each once. */
struct features {
	const struct feature *terms;
	size_t count;
	const float *dense; /* NULL: none */
	uint32_t dense_length;
	uint64_t dense_space;
};

/** Compute the features of a bag, in `arena`. With `frequencies` NULL every word has the same idf
 * and pairs are left out. A dense vector that is zero or contains infinity or NaN is ignored. */
struct features *features_new(struct arena *arena, const struct frequency_table *frequencies,
                              const struct bag *bag);

/** Dot product of two vectors: 0 to 1 when all weights are positive. The dense blocks count only
 * when both have the same space and length. NULL is an empty vector. */
double features_dot(const struct features *a, const struct features *b);
