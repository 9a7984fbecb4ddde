/** What changes keys, sessions or roles makes the caches of keys (key_cache.h) read them again:
 * that of its own process at once, those of other replicas as they hear of it (key_watch.h). Of
 * whom it has changed something is in the table key_change, by triggers (key_change.fn.sql). */
#pragma once

#include "loop/request.h"

/** Commit a transaction that may have revoked, deleted or changed keys, sessions or roles. Then
 * invalidate what the cache of this process has of their accounts and persons and wake the watches
 * of other replicas, also when the outcome of the commit is uncertain. Raises as pg_commit(). A
 * command, which has no cache, commits by pg_commit(): replicas hear of it within a second. */
void key_change_commit(struct request *rq);
