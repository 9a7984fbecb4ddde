#include "paper/paper_cache.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <uthash.h>

/* A paper and all that it points to, in one allocation. */
struct entry {
	struct paper paper;
	const char *embedder; /* NULL: none */
	size_t bytes;
	unsigned references; /* that of the cache and those of the holders */
	uint64_t used;       /* `age` of the cache at that time */
	TAILQ_ENTRY(entry) link;
	UT_hash_handle hh;
};

TAILQ_HEAD(entry_list, entry);

struct paper_cache {
	struct entry *entries;   /* by the id of the paper */
	struct entry_list order; /* the one that was used last at the end */
	size_t bytes, max_bytes;
	uint64_t age; /* calls of paper_cache_age() */
};

/* --- Entries ---------------------------------------------------------------------------------- */

/* Copies into one block, or measures it while there is none. */
struct packing {
	char *block; /* NULL: only count */
	size_t length;
};

static void *pack(struct packing *packing, const void *data, size_t bytes)
{
	size_t at = packing->length;
	packing->length += (bytes + 15) & ~(size_t)15;
	if (!packing->block || !data)
		return NULL;
	if (bytes > 0)
		memcpy(packing->block + at, data, bytes);
	return packing->block + at;
}

static const char *pack_text(struct packing *packing, const char *text)
{
	return text ? pack(packing, text, strlen(text) + 1) : NULL;
}

/* A copy of an array of texts. */
static const char *const *pack_texts(struct packing *packing, const char *const *texts,
                                     size_t count)
{
	const char **copy = pack(packing, texts, count * sizeof(*texts));
	for (size_t i = 0; i < count; i++) {
		const char *text = pack_text(packing, texts[i]);
		if (copy)
			copy[i] = text;
	}
	return copy;
}

static const struct bag *pack_bag(struct packing *packing, const struct bag *bag)
{
	struct bag *copy = pack(packing, bag, sizeof(*bag));
	const struct bag_term *terms = pack(packing, bag->terms, bag->count * sizeof(*bag->terms));
	const float *dense =
		bag->dense ? pack(packing, bag->dense, bag->dense_length * sizeof(*bag->dense))
			   : NULL;
	if (!copy)
		return NULL;
	copy->terms = terms;
	copy->dense = dense;
	return copy;
}

static const struct features *pack_features(struct packing *packing,
                                            const struct features *features)
{
	struct features *copy = pack(packing, features, sizeof(*features));
	const struct feature *terms =
		pack(packing, features->terms, features->count * sizeof(*features->terms));
	const float *dense = features->dense
	                             ? pack(packing, features->dense,
	                                    features->dense_length * sizeof(*features->dense))
	                             : NULL;
	if (!copy)
		return NULL;
	copy->terms = terms;
	copy->dense = dense;
	return copy;
}

/* Pack the entry of a paper; NULL while it is measured. */
static struct entry *pack_entry(struct packing *packing, const struct paper *paper,
                                const char *embedder)
{
	struct entry entry = {
		.paper = {.published_ms = paper->published_ms,
	                  .version = paper->version,
	                  .has_container = paper->has_container,
	                  .is_withdrawn = paper->is_withdrawn,
	                  .weighed_by = paper->weighed_by,
	                  .text.category_count = paper->text.category_count},
		.references = 1,
	};
	struct entry *copy = pack(packing, &entry, sizeof(entry));
	entry.embedder = pack_text(packing, embedder);
	entry.paper.arxiv_id = pack_text(packing, paper->arxiv_id);
	entry.paper.code_url = pack_text(packing, paper->code_url);
	entry.paper.text.title = pack_text(packing, paper->text.title);
	entry.paper.text.abstract = pack_text(packing, paper->text.abstract);
	entry.paper.text.categories =
		pack_texts(packing, paper->text.categories, paper->text.category_count);
	entry.paper.bag = pack_bag(packing, paper->bag);
	if (paper->features)
		entry.paper.features = pack_features(packing, paper->features);
	entry.bytes = packing->length;
	if (copy)
		*copy = entry;
	return copy;
}

static struct entry *entry_new(const struct paper *paper, const char *embedder)
{
	struct packing packing = {0};
	pack_entry(&packing, paper, embedder);
	packing.block = malloc(packing.length);
	require(packing.block);
	packing.length = 0;
	return pack_entry(&packing, paper, embedder);
}

static void entry_release(void *arg)
{
	struct entry *entry = arg;
	if (--entry->references == 0)
		free(entry);
}

static bool is_of(const struct entry *entry, const char *embedder)
{
	if (!embedder || !entry->embedder)
		return embedder == entry->embedder;
	return strcmp(embedder, entry->embedder) == 0;
}

/* --- The cache -------------------------------------------------------------------------------- */

struct paper_cache *paper_cache_new(size_t max_bytes)
{
	struct paper_cache *cache = calloc(1, sizeof(*cache));
	require(cache);
	cache->max_bytes = max_bytes;
	TAILQ_INIT(&cache->order);
	return cache;
}

static void drop(struct paper_cache *cache, struct entry *entry)
{
	HASH_DEL(cache->entries, entry);
	TAILQ_REMOVE(&cache->order, entry, link);
	cache->bytes -= entry->bytes;
	entry_release(entry);
}

void paper_cache_empty(struct paper_cache *cache)
{
	struct entry *entry;
	while ((entry = TAILQ_FIRST(&cache->order)))
		drop(cache, entry);
}

void paper_cache_free(struct paper_cache *cache)
{
	if (!cache)
		return;
	paper_cache_empty(cache);
	free(cache);
}

static struct entry *find(struct paper_cache *cache, const char *arxiv_id)
{
	struct entry *entry;
	HASH_FIND_STR(cache->entries, arxiv_id, entry);
	return entry;
}

const struct paper *paper_cache_hold(struct paper_cache *cache, struct arena *arena,
                                     const char *arxiv_id, const char *embedder, int64_t version)
{
	struct entry *entry = find(cache, arxiv_id);
	if (!entry || entry->paper.version < version || !is_of(entry, embedder))
		return NULL;
	TAILQ_REMOVE(&cache->order, entry, link);
	TAILQ_INSERT_TAIL(&cache->order, entry, link);
	entry->used = cache->age;
	entry->references++;
	arena_on_free(arena, entry_release, entry);
	return &entry->paper;
}

void paper_cache_add(struct paper_cache *cache, const struct paper *paper, const char *embedder)
{
	struct entry *former = find(cache, paper->arxiv_id);
	if (former)
		drop(cache, former);
	struct entry *entry = entry_new(paper, embedder);
	entry->used = cache->age;
	HASH_ADD_KEYPTR(hh, cache->entries, entry->paper.arxiv_id, strlen(entry->paper.arxiv_id),
	                entry);
	TAILQ_INSERT_TAIL(&cache->order, entry, link);
	cache->bytes += entry->bytes;
	while (cache->bytes > cache->max_bytes && TAILQ_FIRST(&cache->order) != entry)
		drop(cache, TAILQ_FIRST(&cache->order));
}

void paper_cache_age(struct paper_cache *cache)
{
	struct entry *entry;
	while ((entry = TAILQ_FIRST(&cache->order)) && entry->used + 1 < cache->age)
		drop(cache, entry);
	cache->age++;
}

size_t paper_cache_bytes(const struct paper_cache *cache)
{
	return cache->bytes;
}
