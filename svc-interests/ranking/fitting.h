/** An interest's preference model fitted to the signals that its readers gave. Pure: knows neither
 * HTTP nor SQL, and may run on any thread. */
#pragma once

#include "ranking/judge.h"

struct fitting_input {
	struct judge_input interest; /* its model is not looked at */
	const char *examples_json;   /* papers with signals, as paper.h reads them */
	const char *pool_json;       /* papers without: the background */
};

/** What came of it. */
struct fitting_result {
	struct buf model;    /* its bytes; `data` NULL: too little feedback */
	const char *message; /* for people; says why there is none */
	size_t examples, positives;
	double auc; /* cross-validated; NaN where nothing was fitted */
};

/** Fit; everything is in `arena`. */
struct fitting_result fit_model(struct arena *arena, const struct fitting_input *input);
