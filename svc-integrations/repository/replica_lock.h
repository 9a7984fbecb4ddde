/** Locks over all replicas of the service, for work at the code host that must not run twice at a
 * time.
 *
 * A lock is a row of the table `replica_lock`, so no transaction is open while its holder calls the
 * code host. It ends when its holder gives it up or its request ends, and by itself when the
 * process was killed: after what was left of the request's time then, and the time of one call. */
#pragma once

#include "loop/request.h"

/** Take the lock `name`, such as `branch acme/ranker main`, and wait for it as long as the
 * request's time lasts. Raises ERR_UNAVAILABLE, with Retry-After, when somebody else keeps it.
 * Suspends. A request takes one lock at a time. */
void replica_lock_take(struct request *rq, const char *name);

/** Give up the lock that the request has. Suspends. A request that raises gives it up by itself. */
void replica_lock_give_up(struct request *rq);
