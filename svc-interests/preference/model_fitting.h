/** Fits the preference model of an interest to the signals of its readers: from papers as JSON to
 * the bytes of a model (preference.h does the mathematics). Nothing here uses HTTP or SQL. All
 * functions may run on any thread. */
#pragma once

#include "preference/scorer.h"

/** Examples of the evidence: more would make each refresh read many papers. */
#define EVIDENCE_MAX 300

struct fitting_input {
	struct interest interest;    /* its present model is ignored */
	const char *examples_json;   /* papers with a `signal`, in the form of paper.h */
	const char *background_json; /* papers of the background without a signal */
};

struct fitting_result {
	struct buf model;    /* bytes of the model; `data` NULL: too little feedback */
	const char *message; /* for the user: what was fitted, or why nothing was */
	size_t examples, positives;
	double auc; /* cross-validated; NaN: nothing was fitted */
	/* What the model learned from, `NULL` if nothing was fitted: the examples of the greatest
	 * coefficients (preference_coefficients()), at most EVIDENCE_MAX.
	 * [{"arxiv_id":"2205.14135","signal":"like","coefficient":0.31}] */
	const char *evidence_json;
	/* What it learned, in words (learned_words.h); NULL: nothing. */
	const char *learned_json;
};

/** Fit. The result is in `arena`. */
struct fitting_result fit_model(struct arena *arena, const struct fitting_input *input);
