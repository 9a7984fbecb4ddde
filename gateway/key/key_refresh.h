/** Reads keys and sessions in use again before what the cache has of them is stale. Those of a
 * tenth of a second are read by one statement, since one for each costs several times as much. Of
 * one worker. */
#pragma once

#include "key/key_cache.h"
#include "loop/worker.h"

struct key_refresh;

struct key_refresh *key_refresh_new(struct worker *worker, struct key_cache *cache);

/** Free; require()s that nothing is being read. Accepts NULL. */
void key_refresh_free(struct key_refresh *refresh);

/** Read a key again soon, and store it; one that is valid no more is removed. When it cannot be
 * read, its entry stays as it is. */
void key_refresh_add(struct key_refresh *refresh, bool is_session, const uint8_t *hash);
