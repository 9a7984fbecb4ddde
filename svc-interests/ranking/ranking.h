/** Choosing from a pool of papers the few to recommend.
 *
 * A candidate's merit is the weighted mean, 0..1, of
 *
 *     retrieval   0.44   relevance that search gave it for the interest
 *     preference  0.44   what the preference model says, times how far that is to be trusted
 *     recency     0.08   1 on the day of publication, half of that after each half-life
 *     container   0.04   1 when it has a container that runs
 *
 * where a preference that is not there, or not trusted, takes no part and leaves its weight to the
 * others. A fully trusted preference weighs what retrieval does: with interests made of one paper
 * of a CiteULike library each, and the pools that search gives them (tests/bench/ranking_quality.py,
 * 120 users), nDCG@20 of the rest of the library is
 *
 *     preference to retrieval    0      0.42   0.67   1      1.67
 *     3 likes                   .206   .208   .211   .211   .221
 *     half a library            .195   .232   .241   .245   .249
 *
 * and no more than that is given to it, since an interest that someone wrote says more than one
 * paper. Recency and container decide between papers that are about as good.
 *
 * Papers are chosen one at a time. Each time the merit of those left is lowered by how alike they
 * are to a paper that was chosen before or already recommended (maximal marginal relevance;
 * Carbonell and Goldstein, SIGIR 1998), and the highest is taken: relevance = merit * (1 - 0.5 *
 * excess), where excess goes from 0 at likeness RANK_LIKENESS_FREE to 1 at likeness 1. From
 * RANK_LIKENESS_SAME on a paper counts as the same one again and is left out. A paper's relevance
 * can only fall while others are chosen, so that the result is in falling order.
 */
#pragma once

#include "base/arena.h"
#include "preference/features.h"

#include <stdbool.h>
#include <stddef.h>

/** Likeness up to which two papers do not stand in each other's way. Of the pairs in a pool of 500
 * recent arXiv papers on one subject 77 % have less than 0.1, 0.3 % more than 0.2, the closest
 * 0.5. */
#define RANK_LIKENESS_FREE 0.2

/** Likeness from which on two papers are the same: versions of one paper, or its long form. */
#define RANK_LIKENESS_SAME 0.8

#define RANK_HALF_LIFE_DAYS_DEFAULT 30.0

/** A paper of the pool. Numbers outside their range are brought into it, NaN counts as 0. */
struct candidate {
	const struct features *features; /* NULL: like no other */
	double retrieval;                /* 0..1 */
	double preference;               /* 0..1; see rank_options.preference_trust */
	double age_days;                 /* since publication; NaN: not known, counts as old */
	bool has_container;
};

struct rank_options {
	size_t limit;                       /* how many to choose at most */
	double half_life_days;              /* of recency; 0 is RANK_HALF_LIFE_DAYS_DEFAULT */
	double preference_trust;            /* 0..1 (preference_trust()); 0: there is no model */
	const struct features *const *seen; /* already recommended for the interest */
	size_t seen_count;
};

/** A chosen paper. */
struct ranked {
	size_t candidate; /* place in the pool */
	unsigned rank;    /* from 1 */
	double relevance; /* 0..1, falling */
	double merit;     /* 0..1, before likeness to others */
	double recency;   /* 0..1 */
};

/** Merit of one candidate alone, 0..1. */
double candidate_merit(const struct candidate *candidate, const struct rank_options *options);

/** Choose; of equal relevance the one earlier in the pool comes first. The result is in `arena`,
 * its length in `*ret_count`: fewer than the limit when the pool has no more that are new. */
struct ranked *rank_pool(struct arena *arena, const struct candidate *pool, size_t pool_count,
                         const struct rank_options *options, size_t *ret_count);
