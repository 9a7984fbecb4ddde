/** What the readers of one interest prefer, learned from what they did with papers.
 *
 * Example    a paper with the signal that someone gave about it.
 * Background papers of the interest's pool that nobody gave a signal about: weak negatives.
 * Prior      the model without feedback: likeness to the interest's own text.
 * Model      a number per feature. A paper's raw score is the product with its vector; a logistic
 *            brings that to 0..1.
 *
 * With fewer than PREFERENCE_LOGISTIC_MIN positives a model is a centroid (Rocchio: the mean of the
 * positives, the interest's text among them, less the background's mean and a part of the rejected
 * papers'); from there on it is a logistic regression in which positives and background weigh the
 * same (logistic.h). Five-fold cross-validation gives the AUC that is reported with a model, and
 * the scores that the logistic is fitted to.
 *
 * A model carries the frequency table that its vectors were made with: vectors for
 * preference_score() are made with preference_frequencies() of the same model.
 *
 * Nothing here is random, and order of the input decides nothing but the folds. All functions may
 * run on any thread; a model never changes once made.
 */
#pragma once

#include "base/arena.h"
#include "preference/features.h"
#include "preference/frequency.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What someone did with a paper; saved nowhere by number. */
enum preference_signal {
	SIGNAL_LIKE,
	SIGNAL_SAVE,
	SIGNAL_IMPLEMENTED,
	SIGNAL_MERGED,  /* a pull request that came of it was merged */
	SIGNAL_SHIPPED, /* an experiment that came of it was shipped */
	SIGNAL_DISLIKE,
	SIGNAL_DISMISS,
	SIGNAL_CLOSED,    /* a pull request that came of it was closed unmerged */
	SIGNAL_ABANDONED, /* an experiment that came of it was abandoned */
};

enum {
	/** Positive examples below which nothing is fitted. */
	PREFERENCE_POSITIVES_MIN = 3,
	/** Negatives, background included, below which nothing is fitted. */
	PREFERENCE_NEGATIVES_MIN = 1,
	/** Positive examples from which on the model is a regression. */
	PREFERENCE_LOGISTIC_MIN = 10,
	/** Features of a model at most; the heaviest stay. */
	PREFERENCE_MAX_FEATURES = 32768,
	/** Numbers of a dense vector at most. */
	PREFERENCE_MAX_DENSE = 4096,
	/** Version of the saved form. */
	PREFERENCE_FORMAT = 1,
};

enum preference_kind { PREFERENCE_PRIOR = 0, PREFERENCE_CENTROID = 1, PREFERENCE_LOGISTIC = 2 };

/** Papers come once per signal; a paper liked and saved is two examples. */
struct preference_example {
	const struct features *features;
	enum preference_signal signal;
};

/** What a model is fitted to. Vectors must have been made with `frequencies`. */
struct preference_input {
	const struct frequency_table *frequencies;
	const struct features *interest; /* of the interest's name and context; NULL: none */
	const struct preference_example *examples;
	size_t example_count;
	const struct features *const *background; /* about 500 serve well; no example among them */
	size_t background_count;
};

/** What is told about a model. */
struct preference_facts {
	enum preference_kind kind;
	uint32_t examples;  /* with a signal */
	uint32_t positives; /* of those */
	double auc;         /* cross-validated, 0..1; 0.5 of a prior */
};

struct preference_model;

/** The signal named `name` ("like", "save", "implemented", "merged", "shipped", "dislike",
 * "dismiss", "closed", "abandoned"); false where there is none. */
bool preference_signal_parse(const char *name, enum preference_signal *ret_signal);

bool preference_signal_is_positive(enum preference_signal signal);

/** The model without feedback; examples are not looked at. The background sets where 0.5 lies: one
 * standard deviation above its mean likeness. In `arena`; borrows `frequencies`. */
struct preference_model *preference_prior(struct arena *arena,
                                          const struct preference_input *input);

/** Fit a model. NULL with a sentence in `*ret_message` where there is too little feedback; the
 * model that was there before then stays in use. In `arena`; borrows `frequencies`. */
struct preference_model *preference_fit(struct arena *arena, const struct preference_input *input,
                                        const char **ret_message);

/** How much the readers would like a paper, 0 to 1. */
double preference_score(const struct preference_model *model, const struct features *features);

/** The same before the logistic, for ranking without rounding; any finite number. */
double preference_raw_score(const struct preference_model *model, const struct features *features);

struct preference_facts preference_facts(const struct preference_model *model);

/** How far a model is to be trusted, 0 to 1: 2 * AUC - 1, and 0 for a prior. */
double preference_trust(const struct preference_model *model);

/** The table to make vectors with. Lives as long as the model's arena, or as the one it was fitted
 * with. */
const struct frequency_table *preference_frequencies(const struct preference_model *model);

/** The model's bytes, in `arena`, begun with a format number and ended by a checksum. */
struct buf preference_save(struct arena *arena, const struct preference_model *model);

/** A model from its bytes, which are not kept. NULL where they are damaged, or of another
 * format. */
struct preference_model *preference_load(struct arena *arena, const void *data, size_t length);
