#include "embeddings/query_embedding.h"

#include "embeddings/embeddings.h"
#include "embeddings/query_cache.h"
#include "indexing/indexer.h"
#include "observe/log.h"
#include "pacing/failure_pause.h"
#include "state.h"

#include <stdlib.h>

struct query_embedding {
	struct query_cache *cache;
	struct failure_pause pause;
};

struct query_embedding *query_embedding_new(void)
{
	struct query_embedding *queries = calloc(1, sizeof(*queries));
	require(queries);
	queries->cache = query_cache_new();
	return queries;
}

void query_embedding_free(struct query_embedding *queries)
{
	query_cache_free(queries->cache);
	free(queries);
}

/* Dimension of the papers' vectors; 0: there are none. */
static uint32_t index_dimension(const struct request *rq)
{
	struct engine_view *view = indexer_view(request_indexer(rq));
	uint32_t dimension = engine_dimension(view);
	engine_view_put(view);
	return dimension;
}

/* Embed `text` by the endpoint and cache the result; NULL: paused, refused or failed. */
static const float *embed(struct request *rq, struct query_embedding *queries, const char *text,
                          uint32_t dimension)
{
	if (failure_pause_is_on(&queries->pause))
		return NULL;
	struct embeddings *result = embeddings_create(rq, FOR_QUERY, &text, 1);
	if (result->outcome == EMBEDDINGS_MADE && result->dimension != dimension) {
		result->outcome = EMBEDDINGS_FAILED;
		result->reason =
			arena_printf(rq->arena,
		                     "the vector has %u elements, those of the papers have %u",
		                     result->dimension, dimension);
	}
	if (result->outcome == EMBEDDINGS_REFUSED)
		log_warn("the embedder refused a query; searching by words alone",
		         f_text("reason", result->reason));
	if (result->outcome == EMBEDDINGS_FAILED &&
	    failure_pause_failed(&queries->pause, result->retry_after_ms))
		log_warn("cannot embed queries; searching by words alone",
		         f_text("reason", result->reason));
	if (result->outcome != EMBEDDINGS_MADE)
		return NULL;
	if (failure_pause_succeeded(&queries->pause))
		log_info("embedding queries again");
	query_cache_put(queries->cache, text, result->vectors, dimension);
	return result->vectors;
}

void query_embedding_set(struct request *rq, struct engine_query *query)
{
	const struct search_worker *worker = rq->worker->user;
	struct query_embedding *queries = worker->query_embedding;
	uint32_t dimension = embeddings_space() ? index_dimension(rq) : 0;
	uint32_t known = 0;
	if (dimension == 0 || !query->text[0])
		return;
	const float *vector = query_cache_get(queries->cache, query->text, &known);
	if (vector && known == dimension)
		vector = arena_memdup(rq->arena, vector, dimension * sizeof(*vector));
	else
		vector = embed(rq, queries, query->text, dimension);
	query->vector = vector;
	query->dimension = dimension;
}
