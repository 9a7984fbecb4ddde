#include "embeddings/query_vector.h"

#include "base/backoff.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "embeddings/embeddings.h"
#include "embeddings/query_cache.h"
#include "indexing/indexer.h"

#include <stdlib.h>

#define PAUSE_MIN_MS 500
#define PAUSE_MAX_MS 30000

struct query_vectors {
	struct query_cache *cache;
	unsigned failures; /* in a row */
	uint64_t paused_until_ms;
};

void query_vectors_make(struct worker *worker)
{
	struct query_vectors *vectors = calloc(1, sizeof(*vectors));
	require(vectors);
	vectors->cache = query_cache_new();
	worker->user = vectors;
}

void query_vectors_free(struct worker *worker)
{
	struct query_vectors *vectors = worker->user;
	query_cache_free(vectors->cache);
	free(vectors);
	worker->user = NULL;
}

/* Elements of the vectors that the query's is to be compared with; 0: there are none. */
static uint32_t index_dimension(const struct request *rq)
{
	struct engine_view *view = indexer_view(rq->worker->process);
	uint32_t dimension = engine_dimension(view);
	engine_view_put(view);
	return dimension;
}

static bool is_paused(const struct query_vectors *vectors)
{
	return time_monotonic_ms() < vectors->paused_until_ms;
}

static void note_success(struct query_vectors *vectors)
{
	if (vectors->failures > 0)
		log_info(LOG_GROUP_APP, "queries are embedded again");
	vectors->failures = 0;
	vectors->paused_until_ms = 0;
}

/* Those that fail together, while others wait as well, count once. */
static void note_failure(struct query_vectors *vectors, const struct embeddings *made)
{
	uint64_t pause_ms;
	if (is_paused(vectors))
		return;
	if (vectors->failures == 0)
		log_warn(LOG_GROUP_APP, "a query was not embedded: searching by words alone",
		         f_text("reason", made->why));
	vectors->failures++;
	pause_ms = backoff_ms(vectors->failures, PAUSE_MIN_MS, PAUSE_MAX_MS);
	vectors->paused_until_ms =
		time_monotonic_ms() + MIN_OF(MAX_OF(pause_ms, made->retry_after_ms), PAUSE_MAX_MS);
}

/* What the endpoint says of the text; NULL: nothing that is of use. */
static const float *ask(struct request *rq, struct query_vectors *vectors, const char *text,
                        uint32_t dimension)
{
	if (is_paused(vectors))
		return NULL;
	struct embeddings *made = embeddings_make(rq, FOR_QUERY, &text, 1);
	if (made->outcome == EMBEDDINGS_MADE && made->dimension != dimension) {
		made->outcome = EMBEDDINGS_FAILED;
		made->why = arena_printf(rq->arena, "a vector of %u elements, the papers' have %u",
		                         made->dimension, dimension);
	}
	if (made->outcome == EMBEDDINGS_REFUSED)
		log_warn(LOG_GROUP_APP, "a query was refused: searching by words alone",
		         f_text("reason", made->why));
	if (made->outcome == EMBEDDINGS_FAILED)
		note_failure(vectors, made);
	if (made->outcome != EMBEDDINGS_MADE)
		return NULL;
	note_success(vectors);
	query_cache_put(vectors->cache, text, made->vectors, dimension);
	return made->vectors;
}

void query_vector_set(struct request *rq, struct engine_query *query)
{
	struct query_vectors *vectors = rq->worker->user;
	uint32_t dimension = embeddings_space() ? index_dimension(rq) : 0;
	uint32_t known = 0;
	if (dimension == 0 || !query->text[0])
		return;
	const float *vector = query_cache_get(vectors->cache, query->text, &known);
	if (vector && known == dimension)
		vector = arena_memdup(rq->arena, vector, dimension * sizeof(*vector));
	else
		vector = ask(rq, vectors, query->text, dimension);
	query->vector = vector;
	query->dimension = dimension;
}
