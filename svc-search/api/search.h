/** Searching: POST /search/assets, and what other services ask. */
#pragma once

#include "loop/request.h"

void asset_search(struct request *rq);

/** POST /internal/assets/similar: papers near a long text, with what a ranker needs of each.
 *
 *     {"text": "…", "limit": 300, "categories": ["cs"] | null,
 *      "published_since": "2026-01-01" | null}
 *     {"strategy": "hybrid", "model": "200-5c01a7f3", "dimension": 200, "results": [ROW, …]}
 *
 * ROW is {"arxiv_id", "relevance" 0 to 1, "matched": ["word", …], "published_at": "YYYY-MM-DD" |
 * null, "has_container", "title", "abstract" (whole), "categories", "github_url", "vector": base64
 * of int8 | null, "scale", "asset": as lists show it}. An element of the vector is its int8 times
 * `scale`; vectors of different models do not compare. */
void asset_similar(struct request *rq);

/** POST /internal/assets/lookup: {"arxiv_ids": […]} gives the same rows, relevance 0, in the order
 * asked; unknown ones are missing. */
void asset_lookup(struct request *rq);
