/** Cache of API keys, shared by the workers of a process: the owner of each key, indexed by the
 * SHA-256 of the key's text. Thread-safe.
 *
 * An entry is fresh while four things hold. The key has not expired. Nothing of its account or
 * person has changed since it was read: no key, session or role; so an account whose keys change
 * all the time costs the others nothing. Less than KEY_UNSURE_MS have passed since it was read, or
 * since key_cache_confirm() said that all changes were known. And it was read less than
 * KEY_CACHE_MS ago, whatever is known. A stale entry says only that the key was valid once.
 */
#pragma once

#include "base/arena.h"
#include "crypto/crypto.h"
#include "crypto/identity.h"

#include <stddef.h>
#include <stdint.h>

#define KEY_UNSURE_MS 5000
#define KEY_CACHE_MS  75000

/** An entry of this age is read again in the background, so that requests with a key in steady use
 * never wait. A minute, as a look-up also says when the key was used last. */
#define KEY_REFRESH_MS 60000

struct key_cache;

/** The time when a key is read from the database, or looked up in the cache, and how many changes
 * were known by then. */
struct cache_version {
	uint64_t changes;
	uint64_t monotonic_ms; /* time_monotonic_ms() */
	int64_t unix_ms;       /* time_now_ms() */
};

struct key_cache *key_cache_new(void);

/** Accepts NULL. */
void key_cache_free(struct key_cache *cache);

/** A key as the database has it. */
struct cached_key {
	struct identity caller;  /* `account` is the one that a session shows */
	struct uuid key_account; /* of the key of a session, which may be another; else the same */
	struct uuid person;      /* zero: nobody's */
	int64_t expires_at_ms;   /* 0: never */
};

/** For a read that begins now. What it finds is of before the next change. */
struct cache_version key_cache_now(const struct key_cache *cache);

/** Keys, sessions or roles of an account or a person have changed, which was committed: what was
 * read before is stale. NULL: of whomever. */
void key_cache_change(struct key_cache *cache, const struct uuid *subject);

/** All changes are known that were committed before `monotonic_ms`. */
void key_cache_confirm(struct key_cache *cache, uint64_t monotonic_ms);

enum key_found {
	KEY_ABSENT, /* it was never valid, or its entry was removed */
	KEY_STALE,  /* it was valid once */
	KEY_FRESH,
	KEY_AGING, /* fresh, and the caller should read it again: one caller a second gets this */
};

/** Find a key. When it is fresh or aging, its owner is copied to *ret_caller, the strings into
 * `arena`. */
enum key_found key_cache_get(struct key_cache *cache, struct arena *arena, const uint8_t *hash,
                             const struct cache_version *now, struct identity *ret_caller);

/** Store the result of a lookup that began at `read`, unless a newer one is stored. Copies. When
 * the cache is full, the entries that were read first are removed. */
void key_cache_put(struct key_cache *cache, const uint8_t *hash, const struct cache_version *read,
                   const struct cached_key *key);

/** Remove the key's entry, if there is one. */
void key_cache_drop(struct key_cache *cache, const uint8_t *hash);

/** Number of entries, fresh and stale. For tests. */
size_t key_cache_size(struct key_cache *cache);
