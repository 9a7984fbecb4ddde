/** The final score of a paper, by which papers are selected. What the API shows of a selected paper
 * is its relevance (calibration.h).
 *
 * The base score is combined from the candidate's signals; the final score is the base score,
 * lowered when the paper is similar to one that was selected or recommended before.
 *
 * The base score is the weighted mean, 0..1, of
 *
 *     retrieval   0.44   relevance of the paper to the interest, from search
 *     preference  0.44   score of the preference model; the weight is multiplied by the trust in
 *                        the model
 *     recency     0.08   1 on the day of publication, halved after each half-life
 *     container   0.04   1 when the paper has a runnable container
 *
 * The weight that an untrusted or missing preference model loses goes to the other signals in
 * proportion. Recency and container decide between papers of about equal quality.
 *
 * With interests made of one paper of a CiteULike library each, and the pools that search gives
 * them, nDCG@20 of the rest of the library is (tests/bench/recommendation/ranking_quality.py, 120
 * users)
 *
 *     weight of preference / weight of retrieval    0      0.42   0.67   1      1.67
 *     3 likes                                      .206   .208   .211   .211   .221
 *     half a library                               .195   .232   .241   .245   .249
 *
 * The ratio is 1, although more is better here: an interest that a user wrote describes the topic
 * better than one paper does.
 *
 * A paper that is about what the interest refuses loses up to REFUSAL_PENALTY of its base score,
 * and of its relevance.
 *
 * The penalty for similarity follows maximal marginal relevance (Carbonell and Goldstein, SIGIR
 * 1998):
 *
 *     final score = base score * (1 - 0.15 * excess)
 *
 * `excess` rises from 0 to 1 while the similarity to the most similar selected or recommended paper
 * rises from SIMILARITY_IGNORED to 1. The penalty is small: it decides between papers of about
 * equal scores, and a paper that is better by a sixth is never passed over for one of another
 * kind. */
#pragma once

#include "paper/features.h"
#include "ranking/calibration.h"

#include <stdbool.h>

/** Similarity up to which there is no penalty. Of the pairs in a pool of 500 recent arXiv papers on
 * one topic, 77 % have a similarity below 0.1, 0.3 % above 0.2, and the highest is 0.5. */
#define SIMILARITY_IGNORED 0.2

#define HALF_LIFE_DAYS_DEFAULT 30.0

/** A paper of the pool. Numbers outside their range are clamped to it; NaN is treated as 0. */
struct candidate {
	const struct features *features; /* NULL: similar to no other paper */
	double retrieval;                /* 0..1 */
	double preference;               /* 0..1 */
	double age_days;                 /* since publication; NaN: unknown, the recency is 0 */
	bool has_container;
	double refusal; /* 0..1, how much it is about what the interest refuses (refusal.h) */
	/* whom the interest names; NULL: none, or the paper has something that it refuses */
	const char *author;
};

struct score_options {
	double half_life_days;     /* of recency; 0: HALF_LIFE_DAYS_DEFAULT */
	double preference_trust;   /* 0..1, from preference_trust(); 0: no model */
	double preference_typical; /* 0..1, for the relevance (calibration.h) */
};

/** The signals of a base score. */
enum score_signal {
	SCORE_RETRIEVAL,
	SCORE_PREFERENCE,
	SCORE_RECENCY,
	SCORE_CONTAINER,
	SCORE_SIGNALS,
};

/** What a base score is made of: the weighted mean of the values, times the factor. */
struct score_parts {
	double values[SCORE_SIGNALS]; /* 0..1 */
	double weights[SCORE_SIGNALS];
	double weight_sum;
	double refusal_factor; /* 1: nothing is refused */
};

/** The parts of the base score of a candidate. */
struct score_parts score_parts_of(const struct candidate *candidate,
                                  const struct score_options *options);

/** Base score of a candidate, 0..1. */
double base_score(const struct candidate *candidate, const struct score_options *options);

/** What the relevance of a candidate is computed from (calibration.h). */
struct relevance_signals relevance_signals_of(const struct candidate *candidate,
                                              const struct score_options *options);

/** Relevance of a candidate, 0..1. */
double candidate_relevance(const struct candidate *candidate, const struct score_options *options);

/** The factor of the base score at this similarity to the most similar selected or recommended
 * paper. */
double similarity_factor(double similarity);

/** Final score, 0..1, at this similarity to the most similar selected or recommended paper. */
double final_score(double base, double similarity);
