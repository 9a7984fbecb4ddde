/** A paper as a vector of numbers, for comparing papers and learning from them.
 *
 * Term    a stemmed word, or a pair of words that stand side by side, known by a 32-bit hash.
 * Bag     a paper's terms with how often each occurs; words of the title count more than once.
 * Weight  (1 + ln occurrences) x idf of the term, idf by the frequency table (frequency.h).
 * Dense   the vector that an embedder gave the paper, if it did: a second block of the vector.
 *
 * The terms' block is brought to length 1, the dense block to FEATURES_DENSE_SCALE, and then both
 * together to length 1. So the product of two vectors is their similarity: 1 for equal papers, 0
 * for papers that share nothing.
 *
 * Everything is in the arena that was passed, and never changes once made.
 */
#pragma once

#include "base/arena.h"
#include "preference/words.h"

#include <stddef.h>
#include <stdint.h>

/** Set in the hash of a pair of words, clear in that of a word. */
#define TERM_IS_PAIR 0x80000000u

/** Length of the dense block beside the terms' block of length 1. Of 0.5, 0.7, 1 and 1.5 the first
 * did best on CiteULike with 128 numbers of latent semantic analysis
 * (tests/bench/preference_quality.c). */
#define FEATURES_DENSE_SCALE 0.5

struct frequency_table;

/** What is known of a paper. Any text may be NULL. */
struct paper_text {
	const char *title;
	const char *abstract;
	const char *const *categories; /* such as "cs.IR" */
	size_t category_count;
	const float *dense;    /* NULL where there is no embedding */
	uint32_t dense_length; /* 0 where there is no embedding */
	uint64_t dense_space;  /* which embedder made it; vectors of two spaces do not compare */
};

struct bag_term {
	uint32_t id;
	float occurrences; /* > 0 */
};

/** Terms in rising order of id, each once. Borrows the paper's dense vector. */
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

/** Features in rising order of id, each once. */
struct features {
	const struct feature *terms;
	size_t count;
	const float *dense; /* NULL where there is none */
	uint32_t dense_length;
	uint64_t dense_space;
};

/** Count the terms of a paper. */
struct bag *bag_new(struct arena *arena, struct word_splitter *splitter,
                    const struct paper_text *paper);

/** The vector of a bag. `frequencies` NULL gives every word the same idf and leaves out pairs. A
 * dense vector that is zero or has a number in it that is not finite counts as none. */
struct features *features_new(struct arena *arena, const struct frequency_table *frequencies,
                              const struct bag *bag);

/** Product of two vectors, 0 to 1 where all weights are positive. Dense blocks take part when both
 * are there and of one space and length. NULL is an empty vector. */
double features_dot(const struct features *a, const struct features *b);

/** Hash of a word, as a bag holds it. */
uint32_t term_id(const char *stem, size_t length);
