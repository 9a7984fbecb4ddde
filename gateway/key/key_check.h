/** gateway/key/: API keys.
 *
 *     key_check.c   finds the owner of a request's key (this header)
 *     key_lookup.c  reads keys from the database
 *     key_refresh.c  reads those in use again
 *     key_cache.c   the keys that the process has looked up
 *     key_change.c  commits changes
 *     key_watch.c   hears of those of others
 *     key_text.c    the text of a key: making it, checking its form, hashing it
 *     key.c         the operations on keys
 *     preset.c      named sets of scopes
 *     role.c        what the role of a key's person allows
 *
 * A key is looked up in the cache of the process, then in the database. A cached key is used until
 * something changes of the keys, sessions or roles of its account or person: at once in the process
 * that makes the change, and in the others within KEY_WATCH_MS, sooner with Redis. While the
 * database does not say whether anything has changed, no key is accepted for more than
 * KEY_UNSURE_MS. A key that cannot be looked up is refused.
 *
 * A session of a browser (session/session.h) is looked up in the same way, and has all that is said
 * here of keys.
 *
 * Look-ups of keys that were never valid are limited, so that they cannot slow others: each client
 * address (IPv6: each /64) has a bucket of KEY_LOOKUP_LIMIT tokens a second, of which such a
 * look-up takes one; a valid key gives it back. At most KEY_LOOKUPS_MAX of them run at once in a
 * process. Keys that the cache knows, also as stale, are not limited.
 */
#pragma once

#include "base/config.h"
#include "crypto/identity.h"
#include "key/key_cache.h"
#include "loop/request.h"
#include "loop/worker.h"

#define KEY_LOOKUPS_MAX 256

/** KEY_LOOKUP_LIMIT. */
extern const struct setting KEY_SETTINGS[];

/** The key checker of a worker. */
struct gateway_process;
struct key_checker;

/** One key_check() that waits for a lookup. */
struct key_wait;

/** The result of a lookup. `caller` is valid during the call; NULL unless `code` is ERR_NONE. */
typedef void key_check_cb(void *context, enum err_code code, const struct identity *caller);

/** Make what the checkers of the process share. Call once, before threads start. */
void key_checkers_start(struct gateway_process *gateway);

/** Free what the checkers share, after all of them. */
void key_checkers_stop(struct gateway_process *gateway);

/** Make a worker's checker. That of the first worker also watches for changes that others make.
 * process->user must be a struct gateway_process. */
struct key_checker *key_checker_new(struct worker *worker);

/** Free; require()s that no lookup is running. Accepts NULL. */
void key_checker_free(struct key_checker *checker);

/** A key to be checked, or a session: it counts as its key, with less scopes perhaps. */
struct key_query {
	struct arena *arena; /* for the strings of the result */
	const char *text;    /* what follows `Bearer `, or the token of a session */
	bool is_session;     /* which of them */
	const char *client;  /* address of the client */
};

/** Check a key or a session.
 *
 * When the result is known at once, it is returned and *ret_wait is NULL. On ERR_NONE *ret_caller
 * is set. Otherwise *ret_wait is set, and `done(context, ...)` is called later, once, from the
 * loop's own stack, unless key_check_cancel() is called first.
 *
 * ERR_UNAUTHENTICATED: the key is malformed, unknown, expired or revoked; ERR_RATE_LIMITED: too
 * many unknown keys from this client; ERR_UNAVAILABLE: the database is not available, too many
 * look-ups are running, or there is no memory for one. */
enum err_code key_check(struct key_checker *checker, const struct key_query *query,
                        struct identity *ret_caller, struct key_wait **ret_wait, key_check_cb *done,
                        void *context);

/** Stop waiting: `done` will not be called. */
void key_check_cancel(struct key_wait *wait);
