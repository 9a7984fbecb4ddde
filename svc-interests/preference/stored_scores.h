/** The preference scores of an interest's candidates, as they are stored, so that a refresh reads
 * and scores only those papers that are new or have changed, or may be the best.
 *
 * The score of a paper depends on the model and on the paper alone. It does not depend on the
 * interest's text, which the model has learned from, nor on other papers or the time. So it is the
 * same as long as these are:
 *
 *     the model         its version, which rises with each fit
 *     the embedder      that made the vectors of the papers
 *     the code          PREFERENCE_SCORING (preference.h)
 *     the paper         its version, which rises with each change, and whether it has a vector
 *
 * The first three are columns of the table `preference_scores`, whose row counts for nothing when
 * one of them is another; the last is kept with each score. What depends on the interest's text or
 * on the time is not stored: relevance, recency, and how much a paper is about what is refused.
 *
 * All scores of an interest are one value: about 7 KB for 300 papers. It is written when a refresh
 * had to score many papers, after a fit above all, and not when a night has brought a few: they are
 * read again until then.
 *
 * Nothing here uses HTTP or SQL. All functions may run on any thread. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stored_score {
	const char *arxiv_id;
	int64_t version; /* of the paper, 1 at least */
	bool has_vector; /* the paper, by the embedder */
	double score;    /* 0..1, exactly as it was computed */
};

struct stored_scores {
	struct stored_score *all; /* in the order of the ids, each once */
	size_t count;
	double trust; /* in the model (preference_trust()) */
};

/** Serialize the scores, in `arena`. Sorts them. */
struct buf stored_scores_write(struct arena *arena, struct stored_scores *scores);

/** Read them, in `arena`. NULL or damaged bytes give none. */
struct stored_scores stored_scores_read(struct arena *arena, const void *data, size_t length);

/** The score of the paper in this version; NaN: it is not there. */
double stored_scores_find(const struct stored_scores *scores, const char *arxiv_id, int64_t version,
                          bool has_vector);
