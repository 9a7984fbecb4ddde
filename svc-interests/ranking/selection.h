/** Selects the papers to recommend from a candidate pool, by maximal marginal relevance.
 *
 * Papers are selected one at a time, each time the one with the highest final score
 * (final_score.h). Each selection can lower the final scores of the papers that are left. The list
 * ends where no paper is left that is at least loosely related (RELEVANCE_LOOSE, calibration.h);
 * if it has fewer than SELECTION_LEAST papers then, the best of the others fill it up to that
 * number. A paper that is a duplicate of a selected or recommended one is left out. The result is
 * in the order of relevance: recency and variety decide which papers are in it, not how well they
 * fit. */
#pragma once

#include "base/arena.h"
#include "ranking/final_score.h"

#include <stddef.h>

/** Similarity from which two papers are duplicates: versions of one paper, or its long form. */
#define SIMILARITY_DUPLICATE 0.8

/** Papers that are selected even if they are not related, within the limit. An interest wants as
 * many a day if it does not say otherwise. */
#define SELECTION_LEAST 3

struct selection_options {
	size_t limit; /* papers to select at most */
	struct score_options scoring;
	const struct features *const *recommended; /* papers already recommended for the interest */
	size_t recommended_count;
	/* What the base score of a paper may be that is not in the pool, at most, and of one that
	 * may be related; 0: there is none. */
	double base_score_outside, related_outside;
};

struct selected {
	size_t candidate; /* index in the pool */
	unsigned rank;    /* from 1, by descending relevance */
	double relevance;
	double final_score;
	double base_score;
	double similarity; /* to the most similar paper that was selected before or recommended */
	const struct features *most_similar; /* those of that paper; NULL: none is similar */
};

/** Select papers. Of equal final scores the candidate earlier in the pool is selected first, and of
 * equal relevances it is listed first. The result is in `arena`; its length, in `*ret_count`, is
 * less than the limit when no more papers qualify. NULL: a paper that is not in the pool may be
 * better than one of it. */
struct selected *select_papers(struct arena *arena, const struct candidate *pool, size_t pool_count,
                               const struct selection_options *options, size_t *ret_count);
