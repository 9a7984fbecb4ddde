/** The vector of a query, by the outside embedder, while the search waits for it.
 *
 * Whatever goes wrong, the search goes on by words alone. After a failure the endpoint is left
 * alone for a while, so that searches do not wait for one that is away; the pause grows with each
 * failure in a row, from half a second up to half a minute. That it refuses a text is no failure of
 * its own. */
#pragma once

#include "engine/engine.h"
#include "loop/request.h"
#include "loop/worker.h"

/** What a worker remembers: answers and failures. */
struct query_vectors;

/** Make it worker->user. */
void query_vectors_make(struct worker *worker);
void query_vectors_free(struct worker *worker);

/** Give the query its vector, where there is an outside embedder that answers in time and the index
 * has vectors to compare with; else leave it as it is. In the arena of the request. Suspends. */
void query_vector_set(struct request *rq, struct engine_query *query);
