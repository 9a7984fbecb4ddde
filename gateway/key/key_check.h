/** gateway/key/: API keys.
 *
 *     key_check.c   who presents a key: the check of every request (this header)
 *     key_cache.c   the keys that one worker has looked up
 *     key_text.c    the text of a key: making it, checking its form, hashing it
 *     key.c         the operations on keys
 *     preset.c      named sets of scopes
 *
 * A key is looked up in the worker's cache, then in the database. A cached key is used for at most
 * KEY_CACHE_MS, and no longer once a change of any key is known: a change made by this process
 * counts at once, one made by another replica as soon as its message arrives through Redis. So when
 * Redis or the database is down, no key is accepted for more than KEY_CACHE_MS after it was read. A
 * key that cannot be looked up is refused.
 */
#pragma once

#include "base/identity.h"
#include "key/key_cache.h"
#include "loop/request.h"
#include "loop/worker.h"

/** The key checker of a worker. */
struct key_checker;

/** One caller that waits for a lookup. */
struct key_wait;

/** The result of a lookup. `caller` is valid during the call; NULL unless `code` is ERR_NONE. */
typedef void key_check_cb(void *context, enum err_code code, const struct identity *caller);

/** Register the metrics. Call once, before threads start. */
void key_checker_register(void);

/** Make a worker's checker; that of worker 0 subscribes to the changes that other replicas make.
 * process->user must be a struct gateway_process. */
struct key_checker *key_checker_new(struct worker *worker);

/** Free; require()s that no lookup is running. Accepts NULL. */
void key_checker_free(struct key_checker *checker);

/** Check the bearer token (what follows `Bearer `; may be NULL).
 *
 * When the result is known at once, it is returned and *ret_wait is NULL; on ERR_NONE *ret_caller is
 * set, and its strings are valid until the caller returns to the loop. Otherwise *ret_wait is set,
 * and `done(context, ...)` is called later, once, from the loop's own stack, unless
 * key_check_cancel() is called first.
 *
 * ERR_UNAUTHENTICATED: missing, malformed, unknown, expired or revoked; ERR_UNAVAILABLE: the
 * database cannot be asked. */
enum err_code key_check(struct key_checker *checker, const char *bearer,
                        struct identity *ret_caller, struct key_wait **ret_wait, key_check_cb *done,
                        void *context);

/** Stop waiting: `done` will not be called. */
void key_check_cancel(struct key_wait *wait);

/** Commit a transaction that revoked, deleted or changed a key or an account. The caches of this
 * process are invalid from then on, and the other replicas are notified; also when the outcome of
 * the commit is uncertain. Raises as pg_commit(). */
void key_change_commit(struct request *rq);
