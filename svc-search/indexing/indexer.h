/** Keeps this replica's index in step with Postgres.
 *
 * One fiber at a time on worker 0 reads what has changed and hands it to the engine; it runs when
 * Postgres notifies, and every second for what a notification may have missed. An import is taken
 * in about a second's worth at a time. Building, merging and saving happen on libuv's pool, and
 * loading all papers anew in a fiber beside, so that a small change waits for none of them. The
 * index is kept on disk under DATA_DIR, named by the database that it was made from, so that a
 * restart only reads what has changed since. When the database is replaced or set back under a
 * running process, the process ends, for its supervisor to start it again with an index of what
 * there is now.
 *
 * Where an outside embedder makes the vectors, they are read with the papers: one that has been
 * stored is a change of its paper.
 *
 *     NEW --snapshot restored or all papers loaded--> CAUGHT_UP --more changes--> CAUGHT_UP
 */
#pragma once

#include "base/config.h"
#include "engine/engine.h"
#include "loop/worker.h"

#include <stdint.h>

struct indexer;

/** DATA_DIR. */
extern const struct setting INDEXER_SETTINGS[];

/** Make the index of a process (empty) as process->user. `space` names the vectors of an outside
 * embedder (embeddings.h); NULL: they are the engine's own. Borrows it. */
void indexer_make(struct process *process, const char *space);

/** Start following Postgres; on worker 0. */
void indexer_start(struct worker *worker);

/** Stop following; on worker 0, while its loop still runs. */
void indexer_stop(struct worker *worker);
void indexer_free(struct process *process);

/** What is searched now; any thread. Give it back with engine_view_put(). */
struct engine_view *indexer_view(struct process *process);

struct index_state {
	uint32_t documents;    /* papers that can be found */
	int64_t updated_at_ms; /* when the newest change was taken in; 0: never */
	bool is_caught_up;     /* all that was there at the start is in */
};

/** Any thread. */
struct index_state indexer_state(struct process *process);

/** Names the embedder of a view: vectors compare when their models are the same. In the arena; any
 * thread. */
const char *indexer_model(struct arena *arena, const struct engine_view *view);
