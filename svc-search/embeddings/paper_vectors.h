/** Has every paper embedded by the outside embedder, once for all replicas.
 *
 * A periodic on worker 0 sees to the papers in the order of their changes, a batch at a time:
 *
 *     claim the turn --> read the next papers --> have those embedded whose text has no vector yet
 *          ^                                                          |
 *          +---- store the vectors, and how far it has come <---------+
 *
 * Postgres holds the vectors, how far a space has come and whose turn it is (0002_vector.sql), so
 * that one replica at a time asks the endpoint, and a batch is done whole or again: when a process
 * is killed in the middle of one, another takes it up when the turn is over. Replicas learn of
 * vectors as they do of papers, by their change numbers (indexer.h).
 *
 * The endpoint is asked one call at a time. A batch that it refuses is halved; a text that it
 * refuses by itself, though it takes others, is passed over until it changes. Any other failure is
 * tried again, later each time, and no sooner than the endpoint's Retry-After says.
 */
#pragma once

#include "loop/worker.h"

struct paper_vectors;

/** Start; on worker 0. NULL where there is no outside embedder. */
struct paper_vectors *paper_vectors_start(struct worker *worker);

/** Stop and free, while the loop still runs and no request is under way. NULL is fine. */
void paper_vectors_stop(struct paper_vectors *papers);
