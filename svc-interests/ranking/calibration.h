/** Calibration: from the signals of a paper to the `relevance_score` that the API shows.
 *
 * The relevance is the probability that somebody who judges the paper by its title and abstract
 * finds it relevant to the interest. It refers to pairs of an interest and one of the first 30
 * papers that search finds for it: 50 % were judged relevant, 35 % were found for the same interest
 * and not judged relevant, and 15 % were found for an interest whose subject the corpus does not
 * have. Each interest weighs the same. So of five such papers with 0.8, four are relevant.
 * Judgments of test collections are incomplete and strict, because they ask for an answer to a
 * question; that is why the papers that nobody judged relevant do not count as often as they are
 * found.
 *
 * With retrieval r, the relevance to the interest that search returns (svc-search/engine/fusion.h),
 * preference p and trust t of the preference model,
 *
 *     log-odds = RELEVANCE_INTERCEPT + RELEVANCE_SLOPE (r + t (p - typical p))
 *
 * The typical p is the mean of the first CALIBRATION_TYPICAL candidates: feedback moves papers up
 * and down, and says nothing about the subject as a whole. A paper that is about what the interest
 * refuses then loses up to REFUSAL_PENALTY of its relevance.
 *
 * Retrieval and preference have the same weight, as in the choice of papers (final_score.h).
 * Recency and container are no part of the relevance.
 *
 * With constants fitted to three of the collections cranfield, cisi, cacm and lisa, the expected
 * calibration error on the fourth is .030, .058, .062 and .068
 * (tests/bench/recommendation/calibration.c). The mean relevance of papers on the subject depends
 * little on the number of papers in the corpus (tests/bench/recommendation/relevance_sizes.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Fitted to all four collections (tests/bench/recommendation/calibration.c). */
#define RELEVANCE_INTERCEPT (-3.63)
#define RELEVANCE_SLOPE     6.59

/** What a relevance means; the first is for tests alone. A paper below RELEVANCE_LOOSE is listed
 * only to fill up a short list (selection.h). */
#define RELEVANCE_ON_SUBJECT 0.8
#define RELEVANCE_RELATED    0.6
#define RELEVANCE_LOOSE      0.4

/** The part of its relevance that a paper loses at refusal 1: from "on the subject", 0.8, to below
 * "loosely related", 0.4. */
#define REFUSAL_PENALTY 0.6

/** Candidates over which the typical preference is taken, best retrieval first. */
#define CALIBRATION_TYPICAL 30

struct relevance_signals {
	double retrieval;       /* 0..1 */
	double preference_lift; /* -1..1: t (p - typical p); 0: no model */
	double refusal;         /* 0..1 */
};

/** The log-odds of being relevant, without the refusal. NaN is treated as 0, and other numbers are
 * clamped. */
double relevance_log_odds(const struct relevance_signals *signals);

/** The calibrated relevance, 0..1. The same. */
double relevance_calibrate(const struct relevance_signals *signals);

/** Whether a paper of this relevance is below a level, such as RELEVANCE_LOOSE. A paper of an
 * `author` whom the interest names never is; NULL: of none. */
bool relevance_is_below(double relevance, const char *author, double level);
