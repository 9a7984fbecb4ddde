/* A stale entry is replaced when its key is read again. When the cache is full, all stale entries
 * are removed at once. */
#include "key/key_cache.h"

#include "base/base.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A SHA-256 is uniformly distributed, so its first bytes serve as uthash's hash value. This keeps
 * the lookup of every request to one memcpy() and one comparison. */
#define HASH_FUNCTION(key, length, out) memcpy(&(out), (key), sizeof(out))
#include <uthash.h>

#define ENTRIES_MAX 65536

struct entry {
	UT_hash_handle hh;
	uint8_t hash[SHA256_LEN];
	struct identity caller;
	int64_t expires_at_ms; /* 0: never */
	struct cache_version read;
	char strings[]; /* repo and interest of `caller` */
};

struct key_cache {
	struct entry *entries; /* uthash, by hash */
};

struct key_cache *key_cache_new(void)
{
	struct key_cache *cache = calloc(1, sizeof(*cache));
	require(cache);
	return cache;
}

static void entry_remove(struct key_cache *cache, struct entry *entry)
{
	HASH_DEL(cache->entries, entry);
	free(entry);
}

void key_cache_free(struct key_cache *cache)
{
	if (!cache)
		return;
	struct entry *entry, *next;
	HASH_ITER (hh, cache->entries, entry, next)
		entry_remove(cache, entry);
	free(cache);
}

static struct entry *entry_find(const struct key_cache *cache, const uint8_t *hash)
{
	struct entry *entry;
	HASH_FIND(hh, cache->entries, hash, SHA256_LEN, entry);
	return entry;
}

static bool is_fresh(const struct entry *entry, const struct cache_version *now, uint64_t age_ms)
{
	return entry->read.generation == now->generation &&
	       now->monotonic_ms - entry->read.monotonic_ms < age_ms &&
	       (!entry->expires_at_ms || now->unix_ms < entry->expires_at_ms);
}

const struct identity *key_cache_get(const struct key_cache *cache, const uint8_t *hash,
                                     const struct cache_version *now, uint64_t age_ms)
{
	const struct entry *entry = entry_find(cache, hash);
	return entry && is_fresh(entry, now, MIN_OF(age_ms, KEY_CACHE_MS)) ? &entry->caller : NULL;
}

static void remove_stale(struct key_cache *cache, const struct cache_version *now)
{
	struct entry *entry, *next;
	HASH_ITER (hh, cache->entries, entry, next)
		if (!is_fresh(entry, now, KEY_CACHE_MS))
			entry_remove(cache, entry);
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

void key_cache_put(struct key_cache *cache, const uint8_t *hash, const struct cache_version *read,
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
	key_cache_drop(cache, hash);
	if (HASH_COUNT(cache->entries) >= ENTRIES_MAX)
		remove_stale(cache, read);
	HASH_ADD(hh, cache->entries, hash, SHA256_LEN, entry);
}

void key_cache_drop(struct key_cache *cache, const uint8_t *hash)
{
	struct entry *entry = entry_find(cache, hash);
	if (entry)
		entry_remove(cache, entry);
}

size_t key_cache_size(const struct key_cache *cache)
{
	return HASH_COUNT(cache->entries);
}
