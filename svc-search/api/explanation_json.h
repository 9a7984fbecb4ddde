/** Writes the explanation of a hit (engine/hit_explanation.h) as JSON:
 *
 *     {"lexical": {"score": 13.2, "words": 11.9, "smoothed": 10.2, "pairs": 1.3, "greatest": 15.1,
 *                  "rank": 2,
 *                  "terms": [{"word": "attention", "term": "attent", "weight": 3.1, "score": 4.2,
 *                             "title": 2.8, "abstract": 1.4, "authors": 0}],
 *                  "other_terms": 0,
 *                  "pairs_found": [{"words": ["memory", "attention"], "score": 1.3}]},
 *      "dense": {"cosine": 0.61, "greatest": 0.7, "weight": 0.44, "rank": 1, "is_pending": false} | null,
 *      "fused": 1.25, "full_score": 20.1, "cosine_weight": 0.5, "relevance_factor": 0.45,
 *      "relevance_limit": 0.8, "has_id_of_query": false}
 *
 * Numbers have six decimal places. */
#pragma once

#include "engine/hit_explanation.h"

#include <yyjson.h>

/** The object, in `doc`. Only the `limit` greatest terms and pairs are listed; `other_terms` is the
 * sum of the other terms. Borrows the texts. */
yyjson_mut_val *explanation_json(yyjson_mut_doc *doc, const struct hit_explanation *explanation,
                                 size_t limit);
