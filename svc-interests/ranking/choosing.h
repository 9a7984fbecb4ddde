/** From an interest and its candidates to recommendations in words: ranking.h and reasoning.h put
 * to use. Pure: knows neither HTTP nor SQL, and may run on any thread. */
#pragma once

#include "ranking/judge.h"

struct choosing_input {
	struct judge_input interest;
	const char *pool_json; /* candidates, as paper.h reads them */
	const char *seen_json; /* papers that were recommended before */
	size_t limit;
	double half_life_days; /* of recency */
	int64_t now_ms;
};

/** Choose at most `limit` papers. JSON in `arena`, best first:
 *
 *     [{"arxiv_id":"2205.14135","relevance_score":0.91,"rank":1,"reasoning":"…",
 *       "suggested_experiment":"…"}]
 */
const char *choose_papers(struct arena *arena, const struct choosing_input *input);
