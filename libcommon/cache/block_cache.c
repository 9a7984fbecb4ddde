#include "cache/block_cache.h"

#include "base/base.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <uthash.h>

/* One allocation: this, the block, and its key. */
struct entry {
	const char *key;
	size_t bytes;        /* of the allocation */
	unsigned references; /* that of the cache and those of the holders */
	uint64_t used;       /* `age` of the cache at that time */
	TAILQ_ENTRY(entry) link;
	UT_hash_handle hh;
	max_align_t block[];
};

TAILQ_HEAD(entry_list, entry);

struct block_cache {
	struct entry *entries;   /* by key */
	struct entry_list order; /* the one that was used last at the end */
	size_t bytes, max_bytes;
	uint64_t age; /* calls of block_cache_age() */
};

static struct entry *entry_of(const void *block)
{
	return (struct entry *)((char *)(uintptr_t)block - offsetof(struct entry, block));
}

static struct entry *entry_new(const char *key, size_t bytes)
{
	size_t key_bytes = strlen(key) + 1;
	size_t total = sizeof(struct entry) + bytes + key_bytes;
	struct entry *entry = malloc(total);
	require(entry);
	*entry = (struct entry){.bytes = total, .references = 1};
	entry->key = memcpy((char *)entry->block + bytes, key, key_bytes);
	return entry;
}

static void entry_release(void *arg)
{
	struct entry *entry = arg;
	if (--entry->references == 0)
		free(entry);
}

struct block_cache *block_cache_new(size_t max_bytes)
{
	struct block_cache *cache = calloc(1, sizeof(*cache));
	require(cache);
	cache->max_bytes = max_bytes;
	TAILQ_INIT(&cache->order);
	return cache;
}

static void drop(struct block_cache *cache, struct entry *entry)
{
	HASH_DEL(cache->entries, entry);
	TAILQ_REMOVE(&cache->order, entry, link);
	cache->bytes -= entry->bytes;
	entry_release(entry);
}

void block_cache_empty(struct block_cache *cache)
{
	struct entry *entry;
	while ((entry = TAILQ_FIRST(&cache->order)))
		drop(cache, entry);
}

void block_cache_free(struct block_cache *cache)
{
	if (!cache)
		return;
	block_cache_empty(cache);
	free(cache);
}

static struct entry *find(const struct block_cache *cache, const char *key)
{
	struct entry *entry;
	HASH_FIND_STR(cache->entries, key, entry);
	return entry;
}

const void *block_cache_find(const struct block_cache *cache, const char *key)
{
	struct entry *entry = find(cache, key);
	return entry ? entry->block : NULL;
}

void block_cache_use(struct block_cache *cache, const void *block)
{
	struct entry *entry = entry_of(block);
	TAILQ_REMOVE(&cache->order, entry, link);
	TAILQ_INSERT_TAIL(&cache->order, entry, link);
	entry->used = cache->age;
}

void block_cache_hold(struct block_cache *cache, struct arena *arena, const void *block)
{
	struct entry *entry = entry_of(block);
	block_cache_use(cache, block);
	entry->references++;
	arena_on_free(arena, entry_release, entry);
}

void *block_cache_add(struct block_cache *cache, const char *key, size_t bytes)
{
	struct entry *former = find(cache, key);
	struct entry *entry = entry_new(key, bytes);
	if (former)
		drop(cache, former);
	entry->used = cache->age;
	HASH_ADD_KEYPTR(hh, cache->entries, entry->key, strlen(entry->key), entry);
	TAILQ_INSERT_TAIL(&cache->order, entry, link);
	cache->bytes += entry->bytes;
	while (cache->bytes > cache->max_bytes && TAILQ_FIRST(&cache->order) != entry)
		drop(cache, TAILQ_FIRST(&cache->order));
	return entry->block;
}

void block_cache_age(struct block_cache *cache)
{
	struct entry *entry;
	while ((entry = TAILQ_FIRST(&cache->order)) && entry->used + 1 < cache->age)
		drop(cache, entry);
	cache->age++;
}

size_t block_cache_bytes(const struct block_cache *cache)
{
	return cache->bytes;
}
