#include "embeddings/query_embedding.h"

#include "base/backoff.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "embeddings/embeddings.h"
#include "embeddings/query_cache.h"
#include "indexing/indexer.h"
#include "state.h"

#include <stdlib.h>

#define PAUSE_MIN_MS 500
#define PAUSE_MAX_MS 30000

struct query_embedding {
	struct query_cache *cache;
	unsigned failures;        /* consecutive */
	uint64_t paused_until_ms; /* time_monotonic_ms() */
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

static bool is_paused(const struct query_embedding *queries)
{
	return time_monotonic_ms() < queries->paused_until_ms;
}

static void note_success(struct query_embedding *queries)
{
	if (queries->failures > 0)
		log_info(LOG_GROUP_APP, "embedding queries again");
	queries->failures = 0;
	queries->paused_until_ms = 0;
}

/* Concurrent calls that fail together count as one failure: the first of them begins the pause. */
static void note_failure(struct query_embedding *queries, const struct embeddings *result)
{
	if (is_paused(queries))
		return;
	if (queries->failures == 0)
		log_warn(LOG_GROUP_APP, "cannot embed queries; searching by words alone",
		         f_text("reason", result->reason));
	queries->failures++;
	uint64_t pause_ms = backoff_ms(queries->failures, PAUSE_MIN_MS, PAUSE_MAX_MS);
	queries->paused_until_ms = time_monotonic_ms() +
	                           MIN_OF(MAX_OF(pause_ms, result->retry_after_ms), PAUSE_MAX_MS);
}

/* Embed `text` by the endpoint and cache the result; NULL: paused, refused or failed. */
static const float *embed(struct request *rq, struct query_embedding *queries, const char *text,
                          uint32_t dimension)
{
	if (is_paused(queries))
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
		log_warn(LOG_GROUP_APP, "the embedder refused a query; searching by words alone",
		         f_text("reason", result->reason));
	if (result->outcome == EMBEDDINGS_FAILED)
		note_failure(queries, result);
	if (result->outcome != EMBEDDINGS_MADE)
		return NULL;
	note_success(queries);
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
