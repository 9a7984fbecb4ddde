/* Chains in buckets. Stale entries go when the key is read again, or all at once when there are
 * many. */
#include "key/key_cache.h"

#include "base/base.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS     1024 /* a power of two */
#define ENTRIES_MAX 65536

struct entry {
	uint8_t hash[SHA256_LEN];
	struct entry *next;
	struct identity caller;
	int64_t expires_at_ms; /* 0: never */
	struct key_moment read;
	char strings[]; /* repo and interest of `caller` */
};

struct key_cache {
	struct entry *buckets[BUCKETS];
	size_t count;
};

struct key_cache *key_cache_new(void)
{
	struct key_cache *cache = calloc(1, sizeof(*cache));
	require(cache);
	return cache;
}

static void entry_remove(struct key_cache *cache, struct entry **at)
{
	struct entry *entry = *at;
	*at = entry->next;
	cache->count--;
	free(entry);
}

void key_cache_free(struct key_cache *cache)
{
	for (size_t i = 0; cache && i < BUCKETS; i++)
		while (cache->buckets[i])
			entry_remove(cache, &cache->buckets[i]);
	free(cache);
}

/* A hash's bits are as good as random. */
static size_t bucket_of(const uint8_t *hash)
{
	uint32_t head;
	memcpy(&head, hash, sizeof(head));
	return head & (BUCKETS - 1);
}

static bool is_fresh(const struct entry *entry, const struct key_moment *now, uint64_t age_ms)
{
	return entry->read.generation == now->generation &&
	       now->monotonic_ms - entry->read.monotonic_ms < age_ms &&
	       (!entry->expires_at_ms || now->unix_ms < entry->expires_at_ms);
}

const struct identity *key_cache_get(const struct key_cache *cache, const uint8_t *hash,
                                     const struct key_moment *now, uint64_t age_ms)
{
	const struct entry *entry = cache->buckets[bucket_of(hash)];
	while (entry && memcmp(entry->hash, hash, SHA256_LEN) != 0)
		entry = entry->next;
	return entry && is_fresh(entry, now, MIN_OF(age_ms, KEY_CACHE_MS)) ? &entry->caller : NULL;
}

static void forget_stale(struct key_cache *cache, const struct key_moment *now)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct entry **at = &cache->buckets[i]; *at;)
			if (is_fresh(*at, now, KEY_CACHE_MS))
				at = &(*at)->next;
			else
				entry_remove(cache, at);
}

static size_t size_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Copy `text` behind the entry; NULL stays NULL. */
static const char *keep_string(char **at, const char *text)
{
	if (!text)
		return NULL;
	char *kept = memcpy(*at, text, size_of(text));
	*at += size_of(text);
	return kept;
}

void key_cache_put(struct key_cache *cache, const uint8_t *hash, const struct key_moment *read,
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
	entry->caller.repo = keep_string(&strings, caller->repo);
	entry->caller.interest = keep_string(&strings, caller->interest);
	key_cache_drop(cache, hash);
	if (cache->count >= ENTRIES_MAX)
		forget_stale(cache, read);
	struct entry **bucket = &cache->buckets[bucket_of(hash)];
	entry->next = *bucket;
	*bucket = entry;
	cache->count++;
}

void key_cache_drop(struct key_cache *cache, const uint8_t *hash)
{
	struct entry **at = &cache->buckets[bucket_of(hash)];
	while (*at && memcmp((*at)->hash, hash, SHA256_LEN) != 0)
		at = &(*at)->next;
	if (*at)
		entry_remove(cache, at);
}

size_t key_cache_size(const struct key_cache *cache)
{
	return cache->count;
}
