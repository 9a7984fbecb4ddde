/** Embeds every paper by the external embedder, once for all replicas.
 *
 * Periodic work (loop/periodic.h) on the background worker processes the papers in the order of
 * their changes, one batch in a pass:
 *
 *     acquire the lease --> read the next papers --> embed those whose text has no vector yet
 *          ^                                                           |
 *          +--- store the vectors and the progress, release the lease <+
 *
 * Postgres holds the vectors, the progress and the lease of each vector space (vector_space in
 * migrations/0001_schema.sql). One replica at a time holds the lease and calls the endpoint. A
 * batch is stored whole or not at all: if the process is killed in the middle of one, another
 * replica repeats it when the lease has expired. Replicas learn of new vectors by change numbers,
 * as they do of papers (indexer.h).
 *
 * There is one call at a time. A batch that the endpoint refuses is halved. A single text that it
 * refuses, although it accepts others, is skipped until the paper changes. Any other failure is
 * retried with backoff, and not before the time given by the endpoint's Retry-After. When a batch
 * fails again and again, but not another text, it is treated as one that is refused.
 */
#pragma once

#include "loop/worker.h"

struct paper_embedding;

/** Start, on the thread of `worker`. NULL when there is no external embedder. */
struct paper_embedding *paper_embedding_start(struct worker *worker);

/** Stop and free, while the loop still runs and no request is under way. Accepts NULL. */
void paper_embedding_stop(struct paper_embedding *papers);
