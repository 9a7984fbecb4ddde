/** gateway/key/: API keys.
 *
 *     key_check.c   finds the owner of a request's key (this header)
 *     key_cache.c   the keys that one worker has looked up
 *     key_text.c    the text of a key: making it, checking its form, hashing it
 *     key.c         the operations on keys
 *     preset.c      named sets of scopes
 *
 * A key is looked up in the worker's cache, then in the database. A cached key is used for at most
 * KEY_CACHE_MS. A change of any key invalidates the cache before that: at once in the process that
 * makes the change, and in the other replicas as soon as its message arrives through Redis. So even
 * when Redis or the database is down, no key is accepted for more than KEY_CACHE_MS after it was
 * read. A key that cannot be looked up is refused.
 */
#pragma once

#include "base/identity.h"
#include "key/key_cache.h"
#include "loop/request.h"
#include "loop/worker.h"

/** The key checker of a worker. */
struct key_checker;

/** One key_check() that waits for a lookup. */
struct key_wait;

/** The result of a lookup. `caller` is valid during the call; NULL unless `code` is ERR_NONE. */
typedef void key_check_cb(void *context, enum err_code code, const struct identity *caller);

/** Register the metrics. Call once, before threads start. */
void key_checker_register(void);

/** Make a worker's checker. That of worker 0 also subscribes to the messages of other replicas.
 * process->user must be a struct gateway_process. */
struct key_checker *key_checker_new(struct worker *worker);

/** Free; require()s that no lookup is running. Accepts NULL. */
void key_checker_free(struct key_checker *checker);

/** Check the bearer token (what follows `Bearer `; may be NULL).
 *
 * When the result is known at once, it is returned and *ret_wait is NULL. On ERR_NONE *ret_caller
 * is set; its strings are valid until the calling function returns to the loop. Otherwise *ret_wait
 * is set, and `done(context, ...)` is called later, once, from the loop's own stack, unless
 * key_check_cancel() is called first.
 *
 * ERR_UNAUTHENTICATED: the key is missing, malformed, unknown, expired or revoked; ERR_UNAVAILABLE:
 * the database is not available. */
enum err_code key_check(struct key_checker *checker, const char *bearer,
                        struct identity *ret_caller, struct key_wait **ret_wait, key_check_cb *done,
                        void *context);

/** Stop waiting: `done` will not be called. */
void key_check_cancel(struct key_wait *wait);

/** Commit a transaction that revoked, deleted or changed a key or an account. Then invalidate the
 * caches of this process and notify the other replicas, also when the outcome of the commit is
 * uncertain. Raises as pg_commit(). */
void key_change_commit(struct request *rq);
