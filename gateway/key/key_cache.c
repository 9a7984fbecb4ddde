/* The entries are in shards, each with a mutex that is held for one look-up in a hash table. A read
 * from the database replaces the entry of its key, at the end of the shard's list, so that the list
 * is in the order of the reads.
 *
 * Changes are numbered. Of the accounts and persons whose ids have the same last bits only the
 * number of the last change is kept: what was read before it is stale, of those that did not change
 * too, which then is read once more. */
#include "key/key_cache.h"

#include "base/base.h"
#include "base/timefmt.h"

#include <uv.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A SHA-256 is uniformly distributed, so its first bytes serve as uthash's hash value. This keeps
 * the lookup of every request to one memcpy() and one comparison. */
#define HASH_FUNCTION(key, length, out) memcpy(&(out), (key), sizeof(out))
#include <uthash.h>

#define SHARDS           16
#define SHARD_MAX        4096 /* entries */
#define REFRESH_RETRY_MS 1000
#define SUBJECTS         4096

struct entry {
	UT_hash_handle hh;
	uint8_t hash[SHA256_LEN];
	struct cached_key key;
	struct cache_version read;
	uint64_t refresh_ms; /* when a caller was last asked to read the key again; 0: never */
	char strings[];      /* repo and interest of its caller */
};

struct shard {
	uv_mutex_t mutex;
	struct entry *entries; /* uthash, by hash; iterates from the first read to the last */
};

struct key_cache {
	struct shard shards[SHARDS];
	_Atomic uint64_t changes;           /* how many are known */
	_Atomic uint64_t last_of_all;       /* number of the last one of whomever */
	_Atomic uint64_t last_of[SUBJECTS]; /* the same of accounts and persons */
	_Atomic uint64_t confirmed_ms;      /* by key_cache_confirm() */
};

struct key_cache *key_cache_new(void)
{
	struct key_cache *cache = calloc(1, sizeof(*cache));
	require(cache);
	for (int i = 0; i < SHARDS; i++)
		require(uv_mutex_init(&cache->shards[i].mutex) == 0);
	return cache;
}

static void entry_remove(struct shard *shard, struct entry *entry)
{
	HASH_DEL(shard->entries, entry);
	free(entry);
}

void key_cache_free(struct key_cache *cache)
{
	for (int i = 0; cache && i < SHARDS; i++) {
		while (cache->shards[i].entries)
			entry_remove(&cache->shards[i], cache->shards[i].entries);
		uv_mutex_destroy(&cache->shards[i].mutex);
	}
	free(cache);
}

/* The shard of a key. Not by the first bytes, which choose the bucket within it. */
static struct shard *shard_lock(struct key_cache *cache, const uint8_t *hash)
{
	struct shard *shard = &cache->shards[hash[SHA256_LEN - 1] % SHARDS];
	uv_mutex_lock(&shard->mutex);
	return shard;
}

static struct entry *entry_find(const struct shard *shard, const uint8_t *hash)
{
	struct entry *entry;
	HASH_FIND(hh, shard->entries, hash, SHA256_LEN, entry);
	return entry;
}

struct cache_version key_cache_now(const struct key_cache *cache)
{
	return (struct cache_version){
		.changes = atomic_load(&cache->changes),
		.monotonic_ms = time_monotonic_ms(),
		.unix_ms = time_now_ms(),
	};
}

/* The last bits of an id are random (crypto/uuid.h). */
static size_t subject_place(const struct uuid *subject)
{
	uint16_t bits;
	memcpy(&bits, subject->bytes + sizeof(subject->bytes) - sizeof(bits), sizeof(bits));
	return bits % SUBJECTS;
}

void key_cache_change(struct key_cache *cache, const struct uuid *subject)
{
	uint64_t number = atomic_fetch_add(&cache->changes, 1) + 1;
	_Atomic uint64_t *last =
		subject ? &cache->last_of[subject_place(subject)] : &cache->last_of_all;
	uint64_t known = atomic_load(last);
	while (known < number && !atomic_compare_exchange_weak(last, &known, number))
		;
}

void key_cache_confirm(struct key_cache *cache, uint64_t monotonic_ms)
{
	atomic_store(&cache->confirmed_ms, monotonic_ms);
}

static bool has_changed_since(const struct key_cache *cache, uint64_t changes,
                              const struct uuid *subject)
{
	return changes < atomic_load(&cache->last_of[subject_place(subject)]);
}

static bool has_changed(const struct key_cache *cache, const struct entry *entry)
{
	uint64_t read = entry->read.changes;
	return read < atomic_load(&cache->last_of_all) ||
	       has_changed_since(cache, read, &entry->key.caller.account) ||
	       has_changed_since(cache, read, &entry->key.key_account) ||
	       has_changed_since(cache, read, &entry->key.person);
}

static enum key_found entry_state(const struct key_cache *cache, struct entry *entry,
                                  const struct cache_version *now)
{
	uint64_t age_ms = now->monotonic_ms - entry->read.monotonic_ms;
	uint64_t known_ms = MAX_OF(entry->read.monotonic_ms, atomic_load(&cache->confirmed_ms));
	if (age_ms >= KEY_CACHE_MS || now->monotonic_ms >= known_ms + KEY_UNSURE_MS ||
	    has_changed(cache, entry) ||
	    (entry->key.expires_at_ms && now->unix_ms >= entry->key.expires_at_ms))
		return KEY_STALE;
	if (age_ms < KEY_REFRESH_MS || now->monotonic_ms - entry->refresh_ms < REFRESH_RETRY_MS)
		return KEY_FRESH;
	entry->refresh_ms = now->monotonic_ms;
	return KEY_AGING;
}

enum key_found key_cache_get(struct key_cache *cache, struct arena *arena, const uint8_t *hash,
                             const struct cache_version *now, struct identity *ret_caller)
{
	struct shard *shard = shard_lock(cache, hash);
	struct entry *entry = entry_find(shard, hash);
	enum key_found found = entry ? entry_state(cache, entry, now) : KEY_ABSENT;
	if (found >= KEY_FRESH) {
		*ret_caller = entry->key.caller;
		ret_caller->repo = arena_strdup(arena, ret_caller->repo);
		ret_caller->interest = arena_strdup(arena, ret_caller->interest);
	}
	uv_mutex_unlock(&shard->mutex);
	return found;
}

static size_t size_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Copy `text` to *at and advance it. NULL stays NULL. */
static const char *copy_string(char **at, const char *text)
{
	if (!text)
		return NULL;
	char *copy = memcpy(*at, text, size_of(text));
	*at += size_of(text);
	return copy;
}

static struct entry *entry_new(const uint8_t *hash, const struct cache_version *read,
                               const struct cached_key *key)
{
	const struct identity *caller = &key->caller;
	struct entry *entry =
		calloc(1, sizeof(*entry) + size_of(caller->repo) + size_of(caller->interest));
	require(entry);
	char *strings = entry->strings;
	memcpy(entry->hash, hash, SHA256_LEN);
	entry->read = *read;
	entry->key = *key;
	entry->key.caller.repo = copy_string(&strings, caller->repo);
	entry->key.caller.interest = copy_string(&strings, caller->interest);
	return entry;
}

static bool is_newer(const struct cache_version *a, const struct cache_version *b)
{
	if (a->changes != b->changes)
		return a->changes > b->changes;
	return a->monotonic_ms > b->monotonic_ms;
}

void key_cache_put(struct key_cache *cache, const uint8_t *hash, const struct cache_version *read,
                   const struct cached_key *key)
{
	struct entry *entry = entry_new(hash, read, key);
	struct shard *shard = shard_lock(cache, hash);
	struct entry *old = entry_find(shard, hash);
	if (old && is_newer(&old->read, read)) {
		free(entry);
	} else {
		if (old)
			entry_remove(shard, old);
		if (HASH_COUNT(shard->entries) >= SHARD_MAX)
			entry_remove(shard, shard->entries);
		HASH_ADD(hh, shard->entries, hash, SHA256_LEN, entry);
	}
	uv_mutex_unlock(&shard->mutex);
}

void key_cache_drop(struct key_cache *cache, const uint8_t *hash)
{
	struct shard *shard = shard_lock(cache, hash);
	struct entry *entry = entry_find(shard, hash);
	if (entry)
		entry_remove(shard, entry);
	uv_mutex_unlock(&shard->mutex);
}

size_t key_cache_size(struct key_cache *cache)
{
	size_t count = 0;
	for (int i = 0; i < SHARDS; i++) {
		uv_mutex_lock(&cache->shards[i].mutex);
		count += HASH_COUNT(cache->shards[i].entries);
		uv_mutex_unlock(&cache->shards[i].mutex);
	}
	return count;
}
