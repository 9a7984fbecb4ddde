/** Embeds a query by the external embedder while the search waits.
 *
 * After any failure the search continues without a vector, by words alone. A failure also pauses
 * the calls of this worker (pacing/failure_pause.h). A text that the endpoint refuses is not a
 * failure. */
#pragma once

#include "engine/engine.h"
#include "loop/request.h"

/** State of one worker: the cache of query vectors, and the pause. */
struct query_embedding;

struct query_embedding *query_embedding_new(void);
void query_embedding_free(struct query_embedding *queries);

/** Set the vector of `query`, in the arena of `rq`. Leaves it NULL when there is no external
 * embedder, the index has no vectors yet, or the call failed or timed out. Uses the state of the
 * request's worker (state.h). Suspends. */
void query_embedding_set(struct request *rq, struct engine_query *query);
