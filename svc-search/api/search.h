/** svc-search/api/: the routes of svc-search. Entry points: search.h (search, and the internal
 * routes for other services), similar.h (papers near to one), asset.h (papers). Used by them:
 * facets.h, query_expansion.h, search_filter.h, search_hits.h. */
#pragma once

#include "loop/request.h"

/** POST /search/assets. */
void asset_search(struct request *rq);

/** POST /search/assets/facets: what such a search finds, counted (facets.h). */
void asset_facets(struct request *rq);

/** POST /internal/assets/similar: the papers nearest to a text of up to several pages, with all
 * that a ranker needs.
 *
 *     {"text": "…", "limit": 300, "categories": ["cs"] | null, "sources": ["arxiv"] | null,
 *      "published_since": "2026-01-01" | null, "explain": false, "only": ["2205.14135"] | null,
 *      "among": ["2205.14135"] | null, "feedback": ["2205.14135"] | null,
 *      "left_out": ["2205.14135"] | null, "brief": false, "cursor": "…" | null}
 *     {"strategy": "hybrid", "model": "infonce-160-5c01a7f3d2b40e96", "dimension": 160, "documents": 40000,
 *      "feedback": ["2205.14135"], "results": [ROW, …]}
 *
 * ROW is {"arxiv_id", "version", "relevance" 0 to 1, "matched": ["word", "Kaiming He", …],
 * "published_at": "YYYY-MM-DD" | null, "has_container", "title", "abstract" (unabridged),
 * "categories", "github_url", "vector": base64 of int8 | null, "scale", "asset": the JSON of a list
 * item without its abstract}. What is matched with a blank is the name of an author. An element of
 * the vector is its int8 times `scale`. `documents` is the number of papers in the index. `model`
 * names the embedder (engine_version()), null if there are no vectors; vectors are comparable only
 * if it is the same. Replicas can differ in it for some seconds. With "explain" a row has
 * "explanation", too, with the terms and pairs of the greatest scores (explanation_json.h); with
 * "only", there are rows only of these ids.
 *
 * Who has an answer, and wants some of its papers explained, names all of them in "among", with the
 * "feedback" of that answer: they are ranked again, and nothing is searched. Their relevance is the
 * same, unless the index has changed.
 *
 * `version` rises with each change of the paper. Who keeps papers asks with "brief" for rows
 * without them, {"arxiv_id", "version", "relevance", "matched", "has_vector", "has_container",
 * "published_day", "is_changed"}, and looks up those that are new or have changed. The day counts
 * from 1970-01-01, which is that of a paper whose day is unknown.
 *
 * A brief answer has a "cursor" (index_cursor.h; null if the index is empty), too. Who keeps the
 * answer as a whole gives it, with "among" as above, to have the answer renewed: "among" is ranked
 * again together with the papers that have changed since, which "is_changed" tells, and "is_whole"
 * is false. A paper that has not changed can leave the answer and cannot enter it, so all papers
 * should be searched now and then. They are, and "is_whole" is true, when the cursor means nothing
 * to this replica or too much has changed.
 *
 * Papers in "left_out" give their places to others, and do not count to "limit"; but those that
 * "among" needs to rank the others have rows (struct engine_query). "left_out" of a brief answer is
 * the number of those that were asked for. */
void asset_similar(struct request *rq);

/** POST /internal/assets/sample: {"limit": 2000} gives the ids of a random sample of the papers,
 * always the same of the same papers:
 *
 *     {"documents": 40000, "arxiv_ids": ["2205.14135", …]} */
void asset_sample(struct request *rq);

/** POST /internal/assets/lookup: {"arxiv_ids": […]} gives the same object, with relevance 0 and the
 * rows in the order of the ids. Unknown ids have no row. The version is 0 while a paper is not
 * indexed. */
void asset_lookup(struct request *rq);
