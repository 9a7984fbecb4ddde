/** Trains the built-in embedder, once for all replicas.
 *
 * Periodic work on the background worker looks whether a new version is due (training_plan.h says
 * when):
 *
 *     take the lease "embedder" --> sample the papers of the index --> train --> store the version
 *
 * One replica at a time holds the lease, and renews it while it trains. The parameters are a
 * function of the papers alone (engine/vector/training.h), so it does not matter which. A replica
 * that is killed goes on from its checkpoint in DATA_DIR, unless papers have changed or another
 * replica has trained meanwhile; a checkpoint is removed when no training is due. When training
 * would give the current version again, as a digest of the papers shows, it is not repeated. A
 * replica that has lost the lease cannot store: the statement compares the lease's fence.
 *
 * Every replica, this one too, reads the version from Postgres and adopts it (indexer.h). The
 * replicas may answer by two versions for some seconds; each names its own in every answer, and
 * vectors of different versions are never compared. */
#pragma once

#include "base/config.h"
#include "loop/worker.h"

struct indexer;
struct trainer;

/** EMBEDDER_MAX_AGE. */
extern const struct setting TRAINER_SETTINGS[];

/** Start, on the thread of `worker`. Borrows `indexer`. */
struct trainer *trainer_start(struct worker *worker, struct indexer *indexer);

/** Stop and free, while the loop still runs. Accepts NULL. */
void trainer_stop(struct trainer *trainer);
