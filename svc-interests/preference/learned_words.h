/** What a model learned, in the words of the papers that it learned from: "more of: sparse
 * attention, kernels; less of: recommendation systems". */
#pragma once

#include "paper/paper.h"
#include "paper/words.h"
#include "preference/preference.h"

#include <stdbool.h>

enum {
	LEARNED_WORDS_MAX = 6, /* of each side */
	/* Papers that must have a word: one of a single paper says nothing of the others. */
	LEARNED_PAPERS_MIN = 2,
};

/** A paper with a signal. */
struct learned_from {
	const struct paper *paper;
	bool is_positive;
};

/** The words with the greatest weights, in `arena`:
 *
 *     {"more":["sparse attention","kernels"],"less":["recommendation systems"]}
 *
 * Those of `more` are in positive papers, those of `less` in others. Two words are a phrase where
 * most papers that have the one have the other beside it; of a word there is one phrase. NULL: the
 * model is the prior, which learned nothing. */
const char *learned_words(struct arena *arena, struct word_splitter *splitter,
                          const struct preference_model *model, const struct learned_from *papers,
                          size_t count);
