/** The eyes of one interest: its words, and the preference model that papers are judged with.
 *
 * The model is the one that was fitted to feedback, where there is one that can be read; else the
 * prior, which knows the interest's words alone and the papers that they are measured against (the
 * background). All of it is in the arena that was passed, on whatever thread that is used. */
#pragma once

#include "preference/paper.h"
#include "preference/preference.h"
#include "preference/words.h"

#include <stdbool.h>
#include <stddef.h>

struct judge_input {
	const char *name;    /* of the interest */
	const char *context; /* of the interest */
	const void *model;   /* as preference_save() wrote it; NULL: none was fitted */
	size_t model_length;
};

struct judge {
	struct arena *arena;
	struct word_splitter *splitter;
	const struct frequency_table *frequencies;
	const struct features *interest;
	const struct preference_model *model;
	bool is_fitted; /* to feedback: not the prior */
};

/** What the interest's words are about, as a bag in `arena`. */
const struct bag *judge_words(struct arena *arena, struct word_splitter *splitter,
                              const struct judge_input *input);

/** Make one, and the features of the background. Borrows the input's texts. */
struct judge *judge_new(struct arena *arena, const struct judge_input *input,
                        struct paper_list background);

/** Make the papers' features, as this judge's model wants them. */
void judge_read(const struct judge *judge, struct paper_list papers);

/** How much the interest's readers would like the paper, 0 to 1. Its features must have been
 * made. */
double judge_score(const struct judge *judge, const struct paper *paper);

/** Features of every paper, in the arena. */
const struct features **judge_features(const struct judge *judge, struct paper_list papers);

/** Bags of every paper (paper->bag), in the arena, for frequency_table_new(). */
const struct bag **papers_bags(struct arena *arena, struct word_splitter *splitter,
                               struct paper_list papers);
