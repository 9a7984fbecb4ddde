#include "paper/paper_cache.h"

#include <string.h>

/* A paper and all that it points to, in one block. */
struct entry {
	struct paper paper;
	const char *embedder; /* NULL: none */
};

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

/* Pack the entry of a paper, or measure it. */
static void pack_entry(struct packing *packing, const struct paper *paper, const char *embedder)
{
	struct entry entry = {
		.paper = {.published_ms = paper->published_ms,
	                  .version = paper->version,
	                  .has_container = paper->has_container,
	                  .is_withdrawn = paper->is_withdrawn,
	                  .weighed_by = paper->weighed_by,
	                  .text.category_count = paper->text.category_count},
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
	if (copy)
		*copy = entry;
}

static bool is_of(const struct entry *entry, const char *embedder)
{
	if (!embedder || !entry->embedder)
		return embedder == entry->embedder;
	return strcmp(embedder, entry->embedder) == 0;
}

const struct paper *paper_cache_hold(struct block_cache *cache, struct arena *arena,
                                     const char *arxiv_id, const char *embedder, int64_t version)
{
	const struct entry *entry = block_cache_find(cache, arxiv_id);
	if (!entry || entry->paper.version < version || !is_of(entry, embedder))
		return NULL;
	block_cache_hold(cache, arena, entry);
	return &entry->paper;
}

void paper_cache_add(struct block_cache *cache, const struct paper *paper, const char *embedder)
{
	struct packing packing = {0};
	pack_entry(&packing, paper, embedder);
	packing.block = block_cache_add(cache, paper->arxiv_id, packing.length);
	packing.length = 0;
	pack_entry(&packing, paper, embedder);
}
