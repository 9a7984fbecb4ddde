/** Who presents this key: from the worker's cache, else from the database.
 *
 * A cached answer is used for at most KEY_CACHE_MS, and not after a revocation was heard of: one
 * made by this process counts at once, one made by another replica as soon as Redis tells of it.
 * When Redis or the database is away nothing lives longer than KEY_CACHE_MS, and a key that cannot
 * be looked up is not let in.
 */
#pragma once

#include "base/identity.h"
#include "key/key_cache.h"
#include "loop/request.h"
#include "loop/worker.h"

struct auth;
struct auth_wait;

/** The answer of a look-up that had to wait. `caller` is valid during the call, NULL unless
 * ERR_NONE. */
typedef void auth_done_cb(void *context, enum err_code code, const struct identity *caller);

/** Register the cache's metrics; once, before threads. */
void auth_register(void);

/** Make a worker's cache and subscribe to revocations. */
struct auth *auth_new(struct worker *worker);
void auth_free(struct auth *auth);

/** Look the bearer text (what follows `Bearer `) up. When the answer is at hand it is returned,
 * with *ret_caller set on ERR_NONE (its strings live until the caller returns to the loop: copy
 * what stays) and *ret_wait NULL. Otherwise *ret_wait is set and `done(context, …)` is called
 * later, once, from the loop's own stack, unless auth_cancel() comes first.
 *
 * ERR_UNAUTHENTICATED: missing, malformed, unknown, expired or revoked; ERR_UNAVAILABLE: the
 * database is away. */
enum err_code auth_check(struct auth *auth, const char *bearer, struct identity *ret_caller,
                         struct auth_wait **ret_wait, auth_done_cb *done, void *context);

/** Forget a look-up; `done` will not be called. */
void auth_cancel(struct auth_wait *wait);

/** Commit the request's transaction, in which a key or an account was revoked, deleted or changed:
 * this process obeys it at once, and the other replicas are told. So are they where the outcome is
 * uncertain. */
void auth_commit(struct request *rq);
