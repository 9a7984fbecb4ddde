/** svc-search/indexing/: keeps this replica's index up to date with Postgres. Entry points:
 * indexer.h (start, stop, the current view); index_work.h and index_files.h are internal.
 *
 * One fiber at a time on worker 0 reads the newest changes and applies them to the engine. It runs
 * on each notification of Postgres, and every second in case a notification was lost. Heavy work
 * (building, merging, saving) runs on the thread pool. Loading all papers runs in a second fiber,
 * so that small changes need not wait for it. indexer.c draws the states.
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

/** Start following Postgres; on worker 0. */
void indexer_start(struct indexer *indexer, struct worker *worker);

/** Stop following; on worker 0, while its loop still runs. */
void indexer_stop(struct indexer *indexer);

/** The current view of the index; give it back with engine_view_put(). Any thread. */
struct engine_view *indexer_view(const struct indexer *indexer);

struct index_state {
	uint32_t documents;    /* papers in the index */
	int64_t updated_at_ms; /* when changes were last applied; 0: never */
	bool is_caught_up;     /* the index has every change that existed at start-up */
};

/** Any thread. */
struct index_state indexer_state(const struct indexer *indexer);

/** Identifies the embedder of a view, such as `200-5c01a7f3`: vectors of two views are comparable
 * when their models are the same. In the arena. Any thread. */
const char *indexer_model(struct arena *arena, const struct engine_view *view);
