/** svc-interests/ranking/: recommends papers of an interest's candidate pool. Entry point:
 * recommend_papers(), then recommendations_json().
 *
 * Glossary:
 *
 *   candidate pool  the papers that search found for an interest (pool/pool.h)
 *   candidate       a paper of the pool with its signals: retrieval relevance, preference score,
 *                   recency, container
 *   scorer          computes the preference score of a paper (preference/scorer.h)
 *   refusal         how much a paper is about what the interest's text refuses (refusal.h)
 *   base score      weighted mean of the signals, lowered by the refusal (final_score.h)
 *   final score     base score less the penalty for similarity to other recommendations
 *                   (final_score.h)
 *   selection       picks papers by final score, with maximal marginal relevance (MMR; selection.h)
 *   relevance       probability that the paper is on the interest's subject; the `relevance_score`
 *                   of the API (calibration.h)
 *   rank            position of a selected paper by relevance, from 1
 *   explanation     why a paper was selected (explanation.h), with the phrases of the paper that
 *                   search matched (matched_phrases.h)
 *   breakdown       the numbers that its score was made of (breakdown.h)
 *   suggestion      what to try with it (suggestion.h)
 *
 * Nothing here uses HTTP or SQL. All functions may run on any thread. */
#pragma once

#include "preference/scorer.h"
#include "preference/stored_scores.h"

struct recommend_input {
	struct interest interest;
	struct paper_list pool; /* candidates; their features are set */
	/* The other candidates, whose papers were not read, by relevance: of their signals only
	 * `relevance`, `matched`, `has_container`, `preference`, and an age that may be less than
	 * theirs are set. Without a model the preference counts for nothing. */
	struct paper_list unread;
	struct paper_list recommended; /* papers already recommended; the same */
	/* that the model learned from, with `signal` and `coefficient`; none: unknown */
	struct paper_list examples;
	const char *embedder; /* that made the vectors; NULL: words only */
	int64_t model_version;
	size_t limit;          /* papers to recommend at most */
	double half_life_days; /* of recency */
};

/** Papers that were selected, with all that their explanations need. In an arena. */
struct recommendations;

/** Select papers of the pool: those that would be selected if all candidates were read. In `arena`;
 * borrows `input`. NULL: one that was not read may be better. */
struct recommendations *recommend_papers(struct arena *arena, const struct recommend_input *input);

/** The preference scores of the papers of the pool by a model that was fitted, in their arena, to
 * be stored. None of an interest without one. */
struct stored_scores recommendations_scores(const struct recommendations *selected);

/** The ids of the selected papers, a JSON array in their arena; NULL: none was selected. */
const char *recommendations_ids(const struct recommendations *selected);

/** The recommendations as JSON in their arena, best first; `relevance_score` is the relevance.
 * `search_json` is an answer of svc-search that explains these papers; NULL: there is none.
 *
 *     [{"arxiv_id":"2205.14135","relevance_score":0.91,"rank":1,"reasoning":"…",
 *       "suggested_experiment":"…","explanation":{…}}]
 */
const char *recommendations_json(struct recommendations *selected, const char *search_json);
