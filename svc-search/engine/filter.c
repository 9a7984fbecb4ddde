#include "engine/filter.h"

#include "base/base.h"
#include "product/paper_source.h"

#include <roaring/roaring.h>

#include <string.h>

static size_t word_count(const struct segment *segment)
{
	return ((size_t)segment->doc_count + 63) / 64;
}

static bool set_bit(uint32_t doc, void *ctx)
{
	uint64_t *bits = ctx;
	bits[doc / 64] |= UINT64_C(1) << (doc % 64);
	return true;
}

static bool is_in_category(const char *name, const char *category)
{
	size_t length = strlen(category);
	return strncmp(name, category, length) == 0 &&
	       (name[length] == '\0' || name[length] == '.');
}

static void set_categories(const struct filter *filter, const struct segment *segment,
                           uint64_t *bits)
{
	for (uint32_t i = 0; i < segment->category_count; i++) {
		const char *name = segment_category_name(segment, i);
		bool is_allowed = false;
		for (size_t c = 0; c < filter->category_count && !is_allowed; c++)
			is_allowed = is_in_category(name, filter->categories[c]);
		if (is_allowed)
			roaring_iterate(segment->category_docs[i], set_bit, bits);
	}
}

/* Whether `sources` has `name`. */
static bool is_source(const struct filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->source_count; i++)
		if (strcmp(filter->sources[i], name) == 0)
			return true;
	return false;
}

/* arXiv's papers are those of no other source: their documents have no mark of it. */
static void keep_sources(const struct filter *filter, const struct segment *segment, uint64_t *bits,
                         struct arena *arena)
{
	static const char *const OTHERS[] = {PAPER_SOURCES_BUT_ARXIV(PAPER_SOURCE_NAME)};
	uint64_t *dropped = arena_array(arena, word_count(segment), sizeof(uint64_t));
	uint64_t *kept = arena_array(arena, word_count(segment), sizeof(uint64_t));
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++) {
		const struct filter of_source = {.categories = &OTHERS[i], .category_count = 1};
		set_categories(&of_source, segment, is_source(filter, OTHERS[i]) ? kept : dropped);
	}
	for (size_t i = 0; i < word_count(segment); i++)
		bits[i] &= is_source(filter, "arxiv") ? ~dropped[i] : kept[i];
}

static void keep_containers(const struct filter *filter, const struct segment *segment,
                            uint64_t *bits, struct arena *arena)
{
	uint64_t *with = arena_array(arena, word_count(segment), sizeof(uint64_t));
	uint64_t flip = filter->container == CONTAINER_WITHOUT ? UINT64_MAX : 0;
	roaring_iterate(segment->container_docs, set_bit, with);
	for (size_t i = 0; i < word_count(segment); i++)
		bits[i] &= with[i] ^ flip;
}

static void drop_excluded(const struct filter *filter, const struct segment *segment,
                          uint64_t *bits)
{
	for (size_t i = 0; i < filter->excluded_count; i++) {
		uint32_t doc = segment_find_doc(segment, filter->excluded[i]);
		if (doc != SEGMENT_NONE)
			bits[doc / 64] &= ~(UINT64_C(1) << (doc % 64));
	}
}

struct doc_filter filter_resolve(const struct filter *filter, const struct segment *segment,
                                 const uint64_t *alive, struct arena *arena)
{
	struct doc_filter result = {.bits = alive, .below = segment->doc_count};
	size_t words = word_count(segment);
	if (filter->has_published_since)
		result.below = segment_published_since(segment, filter->published_since);
	if (filter->category_count == 0 && filter->source_count == 0 &&
	    filter->container == CONTAINER_ANY && filter->excluded_count == 0)
		return result;
	uint64_t *bits = arena_array(arena, words, sizeof(uint64_t));
	if (filter->category_count > 0)
		set_categories(filter, segment, bits);
	else
		memset(bits, 0xFF, words * sizeof(uint64_t));
	for (size_t i = 0; alive && i < words; i++)
		bits[i] &= alive[i];
	if (filter->source_count > 0)
		keep_sources(filter, segment, bits, arena);
	if (filter->container != CONTAINER_ANY)
		keep_containers(filter, segment, bits, arena);
	drop_excluded(filter, segment, bits);
	result.bits = bits;
	return result;
}

struct doc_filter filter_changed(const struct doc_filter *allowed, const struct segment *segment,
                                 uint64_t change, struct arena *arena, size_t *count)
{
	struct doc_filter result = {0};
	if (segment->header->max_seq <= change)
		return result;
	uint64_t *bits = arena_array(arena, word_count(segment), sizeof(uint64_t));
	for (uint32_t doc = 0; doc < allowed->below; doc++) {
		if (segment->docs[doc].seq <= change || !doc_filter_allows(allowed, doc))
			continue;
		set_bit(doc, bits);
		result.below = doc + 1;
		(*count)++;
	}
	result.bits = bits;
	return result;
}
