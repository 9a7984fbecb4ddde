/** The numbers that a recommendation's score was made of, as JSON. They are stored with the
 * recommendation, because models, papers and interests change.
 *
 *     {"embedder": "infonce-160-5c01a7f3d2b40e96",
 *      "retrieval": {"value": 0.61, "weight": 0.47, "contribution": 0.28, "search": {…} | null},
 *      "preference": {"value": 0.7, "weight": 0.4, "contribution": 0.28, "model": "logistic",
 *                     "model_version": 2, "raw_score": 1.1, "slope": 2.1, "offset": -1.4, "terms": 0.9,
 *                     "dense": 0.3, "bias": -0.1,
 *                     "examples": [{"resource_id": "2205.14135", "title": "…", "signal": "like",
 *                                   "similarity": 0.2, "contribution": 0.06}], "others": 1.04},
 *      "recency": {"value": 0.5, "weight": 0.08, "contribution": 0.04, "age_days": 30.2, "half_life_days": 30},
 *      "container": {"value": 1, "weight": 0.04, "contribution": 0.04},
 *      "selection_score": 0.64,
 *      "relevance": {"preference_lift": 0.1, "intercept": -3.63, "slope": 6.59, "log_odds": 1.05},
 *      "refusal": {"factor": 1, "found": [{"text": "video generation", "value": 0.35}]},
 *      "similarity": {"factor": 1, "value": 0.1, "resource_id": "2307.08691" | null},
 *      "matched": [{"text": "attention", "field": "title"}]}
 *
 * The score by which it was selected is the sum of the contributions times both factors. Its
 * relevance is the factor of the refusal times the probability with these log-odds (calibration.h).
 * `search` is the explanation that svc-search gave with the paper
 * (svc-search/api/explanation_json.h). */
#pragma once

#include "ranking/matched_phrases.h"
#include "ranking/refusal.h"
#include "ranking/selection.h"

#include <yyjson.h>

#include <stdint.h>

/** Examples that are listed: those of the greatest contributions. */
#define BREAKDOWN_EXAMPLES 5

/** What a breakdown is made from. Borrows. */
struct breakdown_input {
	const struct scorer *scorer;
	int64_t model_version; /* of the interest's stored model */
	const char *embedder;  /* NULL: words only */
	struct score_options scoring;
	const struct refusal *refusal;
	struct paper_list examples; /* of the model, with features and coefficients */
	const struct paper *paper;
	const struct candidate *candidate;
	const struct selected *selected;
	const char *most_similar; /* id of the paper that the similarity is to; NULL: none */
	const struct phrases *matched;
	yyjson_val *search; /* NULL: unknown */
};

/** The object, in `doc`. */
yyjson_mut_val *breakdown_json(yyjson_mut_doc *doc, const struct breakdown_input *input);
