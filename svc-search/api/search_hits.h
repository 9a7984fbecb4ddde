/** Runs a search, reads the papers of its hits from Postgres, and writes both as JSON. */
#pragma once

#include "engine/engine.h"
#include "loop/request.h"

#include <yyjson.h>

/** The result of a search, best hit first; in the arena of the request. */
struct search_hits {
	struct engine_view *view; /* released with the arena */
	enum engine_mode mode;    /* as in struct engine_result */
	uint64_t changed_after;   /* of ENGINE_REFRESH, as in struct engine_query; otherwise 0 */
	enum engine_strategy strategy;
	enum engine_hint hint;
	const struct parsed_query
		*parsed; /* of search_hits_find(): the query as it was searched for */
	struct engine_hit *hits;
	size_t count;
	const char *const *feedback; /* as in struct engine_result */
	size_t feedback_count;
	size_t left_out_count; /* as in struct engine_query */
};

/** Set the query's vector, if there is an external embedder, and search. A large index is searched
 * on the thread pool. Suspends. */
struct search_hits *search_hits_find(struct request *rq, struct engine_query *query);

/** The same for a job, which lets others go first: always on the thread pool, in LANE_BATCH. Sets
 * the query's mode: with candidates ENGINE_RERANK, and with the cursor of the answer that they are
 * of (index_cursor.h; NULL: none) ENGINE_REFRESH. Where that means nothing, it is a search. */
struct search_hits *search_hits_find_for_job(struct request *rq, struct engine_query *query,
                                             const char *cursor);

/** The same for a query that is the text of a paper: its vector is that of the paper in the index,
 * if there is one. */
struct search_hits *search_hits_near(struct request *rq, struct engine_query *query,
                                     const char *id);

/** Hits with relevance 0 for `ids`, an array of arXiv ids in any form. Texts that are not ids are
 * left out. */
struct search_hits *search_hits_of_ids(struct request *rq, yyjson_val *ids);

/** Drop all hits but those with these ids. */
void search_hits_keep(struct search_hits *hits, const char *const *ids, size_t count);

/** Drop the first `count` hits. */
void search_hits_skip(struct search_hits *hits, size_t count);

/** A paper matches a query if its relevance is at least this part of the best paper's. The papers
 * behind share few of its words, and would come first in the order of their dates: of seven queries
 * over 40,000 papers, the newest of those with half of it were mostly about something else. */
#define SEARCH_MATCHING 0.7f

/** Drop the hits that do not match. */
void search_hits_keep_matching(struct search_hits *hits);

/** The same, and put the newest first, and the better of one day. */
void search_hits_sort_newest(struct search_hits *hits);

/** The JSON array of POST /search/assets, with highlights of the words of `parsed`. Suspends. */
const char *search_hits_public(struct request *rq, const struct search_hits *hits,
                               const struct parsed_query *parsed);

/** The JSON object of POST /internal/assets/sample, with at most `limit` ids. Suspends. */
const char *search_hits_sample(struct request *rq, size_t limit);

/** The JSON object of the other internal routes (search.h). Suspends. */
const char *search_hits_internal(struct request *rq, const struct search_hits *hits);

/** The same without the papers, as "brief" asks for it. Does not suspend. */
const char *search_hits_brief(struct request *rq, const struct search_hits *hits);
