/** Draws the pairs of texts that an embedder is trained on, out of the papers themselves: two parts
 * of one paper, which are about the same subject.
 *
 * A paper is a list of *units*: its title, and its abstract cut into pieces of about
 * PAIR_UNIT_TOKENS tokens, the length of a sentence without its stop words. There are three kinds
 * of pairs:
 *
 *     probability   first side                         second side
 *     .3            the title                          the abstract
 *     .3            each unit by a coin                the other units
 *     .4            2 to 6 tokens out of some unit     the other units
 *
 * The first two make papers on one subject similar; the third, the inverse cloze task (Lee, Chang
 * and Toutanova, "Latent retrieval for weakly supervised open domain question answering", ACL
 * 2019), makes a short query similar to its paper. A paper without a title of two tokens or an
 * abstract of five gives only pairs of the third kind.
 *
 * A pair depends only on the sample, the paper and the epoch: a fixed seed is hashed with both
 * numbers.
 */
#pragma once

#include "engine/vector/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_UNIT_TOKENS 12

/** A term of a text and its weight: 1 + ln (occurrences). */
struct weighted_term {
	uint32_t term;
	float weight;
};

/** Two texts, each a set of terms without order. */
struct pair {
	struct weighted_term terms[SAMPLE_DOC_TOKENS]; /* of the first side, then of the second */
	size_t counts[2];                              /* terms of each side */
};

/** Random numbers: a SplitMix64 generator (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014). Zero-initialised ones are valid. */
struct pair_random {
	uint64_t state;
};

/** The generator for a number in an epoch. Different numbers give independent sequences. */
struct pair_random pair_random_for(uint32_t epoch, uint64_t number);

/** A number below `bound` (> 0). */
uint32_t pair_random_below(struct pair_random *random, uint32_t bound);

/** Draw the pair of paper `doc` in this epoch. Returns false when the paper is too short: one side
 * is empty or the second has under three different terms. `counts` is working memory by term, zero
 * before and after. */
bool pair_draw(const struct sample *sample, uint32_t doc, uint32_t epoch, uint16_t *counts,
               struct pair *pair);
