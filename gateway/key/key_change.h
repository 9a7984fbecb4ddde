/** What changes keys, sessions or roles says so to the caches of keys (key_cache.h): to its own at
 * once, to those of other replicas by a message through Redis. */
#pragma once

#include "crypto/uuid.h"
#include "loop/request.h"

struct worker;

/** Commit a transaction that revoked, deleted or changed keys, sessions or roles of an account or a
 * person, the `subject`; NULL: of several, or it is not known. Then invalidate what the caches of
 * this process have of it and notify the other replicas, also when the outcome of the commit is
 * uncertain. A command, which has no caches and ends when it is done, waits until the message is
 * sent; without Redis it says that the replicas hear of it later. Raises as pg_commit(). */
void key_change_commit(struct request *rq, const struct uuid *subject);

/** Hear of the changes of other replicas. For one worker of the process, whose process->user is a
 * struct gateway_process. */
void key_changes_subscribe(struct worker *worker);
