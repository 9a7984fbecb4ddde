/** Candidates against an interest's preference model: the answer of score-candidates. Pure: knows
 * neither HTTP nor SQL, and may run on any thread. */
#pragma once

#include "ranking/judge.h"

struct scoring_input {
	struct judge_input interest;
	int64_t model_version;
	const char *pool_json;       /* the interest's pool, as paper.h reads it */
	const char *candidates_json; /* the same; what is in no index has `index`. NULL: the pool */
	size_t limit;                /* how many to answer with */
};

/** JSON in `arena`, best first; of equal score the one that was named earlier:
 *
 *     [{"arxiv_id":"2205.14135","title":"…","score":0.87,"model_version":2},
 *      {"index":1,"title":"…","score":0.62,"model_version":2}]
 *
 * A model that cannot be read counts as none: version 0. */
const char *score_papers(struct arena *arena, const struct scoring_input *input);
