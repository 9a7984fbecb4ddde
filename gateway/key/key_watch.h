/** Watches for changes of keys, sessions and roles that others commit, so that what the cache has
 * of them holds for as long as nothing has changed.
 *
 * The watch looks into the table key_change: each KEY_WATCH_MS, and when another replica says
 * through Redis that it has changed something. A message only hastens a look; nothing is lost
 * without it. What a look costs depends on the number of changes, not of keys. */
#pragma once

#include "loop/worker.h"

#define KEY_WATCH_MS 700

struct key_cache;
struct key_watch;

/** Start to watch. For one worker of the process. */
struct key_watch *key_watch_new(struct worker *worker, struct key_cache *cache);

/** Free a watch whose last look has ended. Accepts NULL. */
void key_watch_free(struct key_watch *watch);

/** Let the watches of other replicas look now. */
void key_watches_wake(struct worker *worker);
