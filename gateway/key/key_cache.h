/** Per-worker cache of API keys: the owner of each key, indexed by the SHA-256 of the key's text.
 *
 * An entry is fresh while three things hold: it was read less than KEY_CACHE_MS ago, the key has
 * not expired, and no key has changed since. A change of any key increases the generation
 * (gateway_process.h), which makes all older entries stale.
 */
#pragma once

#include "base/crypto.h"
#include "base/identity.h"

#include <stddef.h>
#include <stdint.h>

#define KEY_CACHE_MS 5000

struct key_cache;

/** The time and the generation when a key is read from the database, or looked up in the cache. */
struct cache_version {
	uint64_t generation;
	uint64_t monotonic_ms; /* time_monotonic_ms() */
	int64_t unix_ms;       /* time_now_ms() */
};

struct key_cache *key_cache_new(void);

/** Accepts NULL. */
void key_cache_free(struct key_cache *cache);

/** The owner of the key, if its entry is fresh and was read less than `age_ms` ago; otherwise NULL.
 * Valid until the next key_cache_put() or key_cache_drop(). */
const struct identity *key_cache_get(const struct key_cache *cache, const uint8_t *hash,
                                     const struct cache_version *now, uint64_t age_ms);

/** Store the result of a lookup that began at `read`. Copies. `expires_at_ms` 0: never. */
void key_cache_put(struct key_cache *cache, const uint8_t *hash, const struct cache_version *read,
                   const struct identity *caller, int64_t expires_at_ms);

/** Remove the key's entry, if there is one. */
void key_cache_drop(struct key_cache *cache, const uint8_t *hash);

/** Number of entries, fresh and stale. For tests. */
size_t key_cache_size(const struct key_cache *cache);
