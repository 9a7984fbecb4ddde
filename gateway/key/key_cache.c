/* The entries are in shards, each with a mutex that is held for one look-up in a hash table. A read
 * from the database replaces the entry of its key, at the end of the shard's list, so that the list
 * is in the order of the reads. */
#include "key/key_cache.h"

#include "base/base.h"

#include <uv.h>

#include <stdlib.h>
#include <string.h>

/* A SHA-256 is uniformly distributed, so its first bytes serve as uthash's hash value. This keeps
 * the lookup of every request to one memcpy() and one comparison. */
#define HASH_FUNCTION(key, length, out) memcpy(&(out), (key), sizeof(out))
#include <uthash.h>

#define SHARDS           16
#define SHARD_MAX        4096 /* entries */
#define REFRESH_RETRY_MS 1000

struct entry {
	UT_hash_handle hh;
	uint8_t hash[SHA256_LEN];
	struct identity caller;
	int64_t expires_at_ms; /* 0: never */
	struct cache_version read;
	uint64_t refresh_ms; /* when a caller was last asked to read the key again; 0: never */
	char strings[];      /* repo and interest of `caller` */
};

struct shard {
	uv_mutex_t mutex;
	struct entry *entries; /* uthash, by hash; iterates from the first read to the last */
};

struct key_cache {
	struct shard shards[SHARDS];
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

static enum key_found entry_state(struct entry *entry, const struct cache_version *now)
{
	uint64_t age_ms = now->monotonic_ms - entry->read.monotonic_ms;
	if (entry->read.generation != now->generation || age_ms >= KEY_CACHE_MS ||
	    (entry->expires_at_ms && now->unix_ms >= entry->expires_at_ms))
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
	enum key_found found = entry ? entry_state(entry, now) : KEY_ABSENT;
	if (found >= KEY_FRESH) {
		*ret_caller = entry->caller;
		ret_caller->repo = arena_strdup(arena, entry->caller.repo);
		ret_caller->interest = arena_strdup(arena, entry->caller.interest);
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
                               const struct identity *caller, int64_t expires_at_ms)
{
	struct entry *entry =
		calloc(1, sizeof(*entry) + size_of(caller->repo) + size_of(caller->interest));
	require(entry);
	char *strings = entry->strings;
	memcpy(entry->hash, hash, SHA256_LEN);
	entry->read = *read;
	entry->expires_at_ms = expires_at_ms;
	entry->caller = *caller;
	entry->caller.repo = copy_string(&strings, caller->repo);
	entry->caller.interest = copy_string(&strings, caller->interest);
	return entry;
}

static bool is_newer(const struct cache_version *a, const struct cache_version *b)
{
	if (a->generation != b->generation)
		return a->generation > b->generation;
	return a->monotonic_ms > b->monotonic_ms;
}

void key_cache_put(struct key_cache *cache, const uint8_t *hash, const struct cache_version *read,
                   const struct identity *caller, int64_t expires_at_ms)
{
	struct entry *entry = entry_new(hash, read, caller, expires_at_ms);
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
