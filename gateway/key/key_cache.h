/** Whom keys are for, as one worker has read it from the database, by the SHA-256 (`hash`) of their
 * texts.
 *
 * What was read is believed while it is younger than KEY_CACHE_MS, the key has not expired and the
 * generation is the present one: that rises whenever some key has changed, and ends all that was
 * read before.
 */
#pragma once

#include "base/crypto.h"
#include "base/identity.h"

#include <stddef.h>
#include <stdint.h>

#define KEY_CACHE_MS 5000

struct key_cache;

/** When something is read, or asked for. */
struct key_moment {
	uint64_t generation;
	uint64_t monotonic_ms; /* time_monotonic_ms() */
	int64_t unix_ms;       /* time_now_ms() */
};

struct key_cache *key_cache_new(void);
/** NULL is fine. */
void key_cache_free(struct key_cache *cache);

/** Whom the key is for, when that was read less than `age_ms` ago and is still believed; else NULL.
 * Valid until the next call that is not key_cache_get(). */
const struct identity *key_cache_get(const struct key_cache *cache, const uint8_t *hash,
                                     const struct key_moment *now, uint64_t age_ms);

/** Keep what a look-up that began at `read` has found; copies. `expires_at_ms` 0: never. */
void key_cache_put(struct key_cache *cache, const uint8_t *hash, const struct key_moment *read,
                   const struct identity *caller, int64_t expires_at_ms);

/** The key is not good. */
void key_cache_drop(struct key_cache *cache, const uint8_t *hash);

/** Keys that it holds, stale ones too; for tests. */
size_t key_cache_size(const struct key_cache *cache);
