/** svc-interests/preference/: learns what the readers of an interest prefer, and scores papers by
 * it. Entry points: fit_model() (model_fitting.h) and scorer_new() (scorer.h).
 *
 * Glossary:
 *
 *   signal         what a reader did with a paper: a like, a dismissal, a merged pull request
 *   example        a paper with a signal
 *   background     random papers of the corpus without a signal: weak negatives
 *   features       the vector of a paper: tf-idf weights of its terms and a dense vector
 *                  (features.h)
 *   frequencies    document frequency of each term in the corpus, for the idf (frequency.h)
 *   model          a weight for each feature, and a calibration
 *   prior          the model without feedback: similarity to the interest's own text
 *   raw score      product of the model with the features of a paper
 *   score          the calibrated raw score, 0..1
 *   model fitting  computing a model from examples and background
 *   trust          2 * AUC - 1: how much weight the ranking gives to the score
 *
 * With fewer than PREFERENCE_LOGISTIC_MIN positives the model is a centroid (Rocchio): the mean of
 * the positives and the interest's text, minus the mean of the background and a part of the mean of
 * the rejected papers. With more it is a logistic regression in which positives and background have
 * the same total weight (logistic.h). Five-fold cross-validation gives the AUC of the model, and
 * the scores for the calibration. It also compares the model with the prior, which is kept instead
 * when it ranks the positives better by more than chance.
 *
 * A model contains the frequency table that its features were computed with. Features for
 * preference_score() must be computed with preference_frequencies() of the same model.
 *
 * Nothing is random. The order of the input affects the folds only. All functions may run on any
 * thread; a model is immutable.
 */
#pragma once

#include "base/arena.h"
#include "paper/features.h"
#include "paper/frequency.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a reader did with a paper. The numbers are not stored anywhere. */
enum preference_signal {
	SIGNAL_LIKE,
	SIGNAL_SAVE,
	SIGNAL_IMPLEMENTED,
	SIGNAL_MERGED,  /* a pull request based on it was merged */
	SIGNAL_SHIPPED, /* an experiment based on it was shipped */
	SIGNAL_DISLIKE,
	SIGNAL_DISMISS,
	SIGNAL_CLOSED,    /* a pull request based on it was closed without a merge */
	SIGNAL_ABANDONED, /* an experiment based on it was abandoned */
};

enum {
	/** Positive examples that fitting needs. */
	PREFERENCE_POSITIVES_MIN = 3,
	/** Negatives, including the background, that fitting needs. */
	PREFERENCE_NEGATIVES_MIN = 1,
	/** Positive examples from which the model is a logistic regression. */
	PREFERENCE_LOGISTIC_MIN = 10,
	/** Features of a model at most; those with the largest weights are kept. */
	PREFERENCE_MAX_FEATURES = 32768,
	/** Version of the saved format. */
	PREFERENCE_FORMAT = 1,
	/** Version of the scores, which are stored (stored_scores.h): raise it with each change by
	 * which a saved model gives another score to a paper, be it of words, bags, features or
	 * models. tests/unit/svc-interests/preference/stored_scores_test.c notices some. */
	PREFERENCE_SCORING = 1,
};

enum preference_kind { PREFERENCE_PRIOR = 0, PREFERENCE_CENTROID = 1, PREFERENCE_LOGISTIC = 2 };

/** A paper with one signal. A paper that was liked and saved is two examples. */
struct preference_example {
	const struct features *features;
	enum preference_signal signal;
};

/** What a model is fitted to. All features must have been computed with `frequencies`. */
struct preference_input {
	const struct frequency_table *frequencies;
	const struct features *interest; /* of the interest's name and context; may be NULL */
	const struct preference_example *examples;
	size_t example_count;
	const struct features *const
		*background; /* about 500 are enough; must not contain examples */
	size_t background_count;
};

/** Facts about a model. */
struct preference_facts {
	enum preference_kind kind;
	uint32_t examples;  /* with a signal */
	uint32_t positives; /* of those */
	double auc;         /* cross-validated, 0..1; 0.5 for a prior that was not */
};

struct preference_model;

/** The signal named `name` ("like", "save", "implemented", "merged", "shipped", "dislike",
 * "dismiss", "closed", "abandoned"); false: there is no such signal. */
bool preference_signal_parse(const char *name, enum preference_signal *ret_signal);

bool preference_signal_is_positive(enum preference_signal signal);

/** Make the model without feedback; ignores the examples. The score is 0.5 one standard deviation
 * above the background's mean similarity to the interest. In `arena`; borrows `frequencies`. */
struct preference_model *preference_prior(struct arena *arena,
                                          const struct preference_input *input);

/** Fit a model. Returns NULL, with a message for the user in `*ret_message`, when there is too
 * little feedback. In `arena`; borrows `frequencies`. */
struct preference_model *preference_fit(struct arena *arena, const struct preference_input *input,
                                        const char **ret_message);

/** Score of a paper: how much the readers would like it, 0 to 1. */
double preference_score(const struct preference_model *model, const struct features *features);

/** What a score is made of: 1 / (1 + exp(-(slope * (terms + dense + bias) + offset))). */
struct preference_parts {
	double terms; /* sum over the terms of the paper */
	double dense; /* product of the dense vectors */
	double bias;
	double slope, offset;
};

struct preference_parts preference_parts_of(const struct preference_model *model,
                                            const struct features *features);

/** By how much each example, in the order of the input, moves raw scores: that of a paper has as a
 * part this times features_dot() of the two. Only of a model from preference_fit(), not of a loaded
 * one. In its arena. */
const double *preference_coefficients(const struct preference_model *model);

/** Raw score, before the calibration: any finite number. Orders papers without rounding errors. */
double preference_raw_score(const struct preference_model *model, const struct features *features);

struct preference_facts preference_facts(const struct preference_model *model);

/** Trust in a model, 0 to 1: 2 * AUC - 1; 0 for a prior that was not validated. */
double preference_trust(const struct preference_model *model);

/** The table to compute features with. For a loaded model it is in the model's arena; for a fitted
 * one it is the table that was passed. */
const struct frequency_table *preference_frequencies(const struct preference_model *model);

/** Serialize a model, in `arena`: a format number first, a checksum last. */
struct buf preference_save(struct arena *arena, const struct preference_model *model);

/** Load a model into `arena` from the bytes of preference_save(); copies them. NULL: the bytes are
 * damaged or have another format. */
struct preference_model *preference_load(struct arena *arena, const void *data, size_t length);
