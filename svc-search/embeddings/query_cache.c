#include "embeddings/query_cache.h"

#include "engine/text/mem.h"

struct entry {
	char *text; /* NULL: unused */
	float *vector;
	uint32_t dimension;
};

struct query_cache {
	struct entry entries[QUERY_CACHE_ENTRIES];
	size_t next; /* the oldest entry, or an unused one: the next to fill */
};

struct query_cache *query_cache_new(void)
{
	return mem_array(1, sizeof(struct query_cache));
}

static void entry_done(struct entry *entry)
{
	free(entry->text);
	free(entry->vector);
}

void query_cache_free(struct query_cache *cache)
{
	for (size_t i = 0; cache && i < QUERY_CACHE_ENTRIES; i++)
		entry_done(&cache->entries[i]);
	free(cache);
}

const float *query_cache_get(const struct query_cache *cache, const char *text,
                             uint32_t *ret_dimension)
{
	for (size_t i = 0; i < QUERY_CACHE_ENTRIES; i++) {
		const struct entry *entry = &cache->entries[i];
		if (!entry->text || strcmp(entry->text, text) != 0)
			continue;
		*ret_dimension = entry->dimension;
		return entry->vector;
	}
	return NULL;
}

static void *copy(const void *data, size_t size)
{
	return memcpy(mem_array(size, 1), data, size);
}

void query_cache_put(struct query_cache *cache, const char *text, const float *vector,
                     uint32_t dimension)
{
	struct entry *entry = &cache->entries[cache->next];
	size_t length = strlen(text);
	if (length > QUERY_CACHE_TEXT_MAX)
		return;
	entry_done(entry);
	entry->text = copy(text, length + 1);
	entry->vector = copy(vector, dimension * sizeof(*vector));
	entry->dimension = dimension;
	cache->next = (cache->next + 1) % QUERY_CACHE_ENTRIES;
}
