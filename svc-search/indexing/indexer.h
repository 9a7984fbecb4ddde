/** svc-search/indexing/: keeps this replica's index up to date with Postgres. Entry points:
 * indexer.h (start, stop, the current view), trainer.h; the other headers are internal.
 *
 * One fiber at a time on the background worker reads the newest changes and applies them to the
 * engine. It runs on each notification of Postgres, and every second in case a notification was
 * lost. Heavy work (building, merging, saving) runs on the thread pool. indexer.c draws the states.
 *
 * The built-in embedder is trained by one replica for all (trainer.h) and stored in Postgres. Each
 * replica loads the current version and adopts it: it embeds all its papers in the background,
 * answers by the version before until then, and swaps. An index that is built from nothing starts
 * with the current version. The snapshot holds the version that made its vectors.
 *
 * A snapshot of the index is kept under DATA_DIR, so that a restart reads only later changes. When
 * the database is replaced or restored from a backup under a running process, the process exits;
 * its supervisor starts it again, and it rebuilds the index.
 *
 * With an external embedder, vectors are read together with the papers. A newly stored vector is
 * a change of its paper.
 */
#pragma once

#include "base/config.h"
#include "engine/engine.h"
#include "loop/worker.h"

#include <stdint.h>

struct indexer;
struct process;

/** DATA_DIR. */
extern const struct setting INDEXER_SETTINGS[];

/** Make an empty index for `process`, before its threads start. `space` names the vectors of an
 * external embedder (embeddings.h); NULL: the built-in embedder is used. Borrows both. */
struct indexer *indexer_new(struct process *process, const char *space);

/** Free a stopped indexer. */
void indexer_free(struct indexer *indexer);

/** Start following Postgres, on the thread of `worker`. */
void indexer_start(struct indexer *indexer, struct worker *worker);

/** Stop following; on the same thread, while its loop still runs. */
void indexer_stop(struct indexer *indexer);

/** The current view of the index; give it back with engine_view_put(). Any thread. */
struct engine_view *indexer_view(const struct indexer *indexer);

/** The id of the database that the index is of. Any thread that has got a view with changes; ""
 * before the first one. Borrowed from the indexer. */
const char *indexer_source(const struct indexer *indexer);

/** The file in DATA_DIR for the state of a training, in `arena`; NULL: there is no folder, or the
 * database was not looked at yet. On the thread of the worker. */
const char *indexer_training_path(struct arena *arena, const struct indexer *indexer);

struct index_state {
	uint32_t documents;    /* papers in the index */
	int64_t updated_at_ms; /* when changes were last applied; 0: never */
	bool is_caught_up;     /* the index has every change that existed at start-up */
};

/** Any thread. */
struct index_state indexer_state(const struct indexer *indexer);
