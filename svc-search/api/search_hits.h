/** Hits of the engine and the rows that Postgres has of them, put together as answers. */
#pragma once

#include "engine/engine.h"
#include "loop/request.h"

#include <yyjson.h>

/** What was found, best first; in the arena of the request. */
struct search_hits {
	struct engine_view *view; /* goes with the arena */
	enum engine_strategy strategy;
	struct engine_hit *hits;
	size_t count;
};

/** Ask the engine, with the query's vector set first where an outside embedder makes it; a large
 * index is searched on libuv's pool. Suspends. */
struct search_hits *search_hits_find(struct request *rq, struct engine_query *query);

/** Hits without relevance for an array of arXiv ids, in any of their forms; unknown forms are left
 * out. */
struct search_hits *search_hits_of_ids(struct request *rq, yyjson_val *ids);

/** The array of POST /search/assets, with the places that match `query`. Suspends. */
const char *search_hits_public(struct request *rq, const struct search_hits *hits,
                               const char *query);

/** The object of the internal routes (search.h). Suspends. */
const char *search_hits_internal(struct request *rq, const struct search_hits *hits);
