/** Represents a paper as a feature vector, for comparing papers and for learning.
 *
 * Term    a stemmed word, or a pair of adjacent words, identified by a 32-bit hash.
 * Bag     the terms of a paper with their occurrences; words of the title count more than once.
 * Weight  (1 + ln occurrences) * idf of the term; the idf comes from the frequency table
 *         (frequency.h).
 * Dense   the embedding of the paper, when there is one: the second block of the vector.
 *
 * The block of terms is scaled to length 1, the dense block to length FEATURES_DENSE_SCALE, and then
 * the whole vector to length 1. The dot product of two vectors is therefore their cosine similarity:
 * 1 for equal papers, 0 for papers that share nothing.
 *
 * Everything is in the arena that was passed and is immutable.
 */
#pragma once

#include "base/arena.h"
#include "preference/words.h"

#include <stddef.h>
#include <stdint.h>

/** This bit is set in the id of a pair of words and clear in the id of a word. */
#define TERM_IS_PAIR 0x80000000u

/** Length of the dense block, relative to the block of terms. Of 0.5, 0.7, 1 and 1.5 the first gave
 * the best result on CiteULike with 128 dimensions of latent semantic analysis
 * (tests/bench/preference_quality.c). */
#define FEATURES_DENSE_SCALE 0.5

struct frequency_table;

/** The content of a paper. Any text may be NULL. */
struct paper_text {
	const char *title;
	const char *abstract;
	const char *const *categories; /* such as "cs.IR" */
	size_t category_count;
	const float *dense;    /* NULL: no embedding */
	uint32_t dense_length; /* 0: no embedding */
	uint64_t
		dense_space; /* identifies the embedder; vectors of different spaces must not be compared */
};

struct bag_term {
	uint32_t id;
	float occurrences; /* > 0 */
};

/** Terms in ascending order of id, each once. Borrows the paper's dense vector. */
struct bag {
	const struct bag_term *terms;
	size_t count;
	const float *dense;
	uint32_t dense_length;
	uint64_t dense_space;
};

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

/** Count the terms of a paper. */
struct bag *bag_new(struct arena *arena, struct word_splitter *splitter,
                    const struct paper_text *paper);

/** Compute the features of a bag. With `frequencies` NULL every word has the same idf and pairs are
 * left out. A dense vector that is zero or contains infinity or NaN is ignored. */
struct features *features_new(struct arena *arena, const struct frequency_table *frequencies,
                              const struct bag *bag);

/** Dot product of two vectors: 0 to 1 when all weights are positive. The dense blocks count only when
 * both have the same space and length. NULL is an empty vector. */
double features_dot(const struct features *a, const struct features *b);

/** The id of a stemmed word. */
uint32_t term_id(const char *stem, size_t length);

/** Ascending order of ids, for qsort() and bsearch(): of term ids, and of structs that begin with
 * one. */
int term_id_compare(const void *a, const void *b);
