#include "paper/bag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Occurrences of a word in the title, relative to one in the abstract. This value and PAIR_SCALE
 * (features.c) gave the best result on CiteULike
 * (tests/bench/recommendation/preference_quality.c). */
#define TITLE_OCCURRENCES 3.0f

/* Occurrences of a category's term: fewer than those of a word, because a category is broad. */
#define CATEGORY_OCCURRENCES 0.5f

/* Collects the terms of one paper. */
struct bag_maker {
	struct arena *arena;
	struct bag_term *terms;
	size_t count;
	size_t capacity;
	float occurrences; /* of one word of the current text */
	uint32_t previous; /* id of the previous word */
};

uint32_t term_id(const char *stem, size_t length)
{
	/* FNV-1a, 64 bits, folded. */
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)stem[i]) * 0x100000001b3u;
	return (uint32_t)(hash ^ hash >> 32) & ~TERM_IS_PAIR;
}

int term_id_compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	return (left > right) - (left < right);
}

/* Hash of an ordered pair, with the multipliers of MurmurHash3's finaliser. */
static uint32_t pair_id(uint32_t first, uint32_t second)
{
	uint64_t hash = ((uint64_t)first << 32 | second) * 0xff51afd7ed558ccdu;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(hash ^ hash >> 32) | TERM_IS_PAIR;
}

static void bag_add(struct bag_maker *maker, uint32_t id, float occurrences)
{
	if (maker->count == maker->capacity) {
		size_t grown = maker->capacity * 2 + 128;
		maker->terms = arena_grow(maker->arena, maker->terms,
		                          maker->capacity * sizeof(*maker->terms),
		                          grown * sizeof(*maker->terms));
		maker->capacity = grown;
	}
	maker->terms[maker->count++] = (struct bag_term){id, occurrences};
}

static void bag_add_word(void *context, const struct word *word)
{
	struct bag_maker *maker = context;
	uint32_t id = term_id(word->stem, word->stem_length);
	bag_add(maker, id, maker->occurrences);
	if (word->follows && maker->previous != id)
		bag_add(maker, pair_id(maker->previous, id), maker->occurrences);
	maker->previous = id;
}

static void bag_add_category(struct bag_maker *maker, const char *category)
{
	char name[64]; /* longer than any category; a truncated one is still a valid term */
	snprintf(name, sizeof(name), "category:%s", category);
	bag_add(maker, term_id(name, strlen(name)), CATEGORY_OCCURRENCES);
}

/* Sort the terms and merge equal ones. Returns the new number of terms. */
static size_t bag_merge(struct bag_term *terms, size_t count)
{
	if (count == 0)
		return 0;
	qsort(terms, count, sizeof(*terms), term_id_compare);
	size_t kept = 0;
	for (size_t i = 1; i < count; i++) {
		if (terms[i].id == terms[kept].id)
			terms[kept].occurrences += terms[i].occurrences;
		else
			terms[++kept] = terms[i];
	}
	return kept + 1;
}

struct bag *bag_new(struct arena *arena, struct word_splitter *splitter,
                    const struct paper_text *paper)
{
	struct bag_maker maker = {.arena = arena, .occurrences = TITLE_OCCURRENCES};
	maker.terms = arena_alloc(arena, 0);
	words_each(splitter, paper->title, bag_add_word, &maker);
	maker.occurrences = 1;
	words_each(splitter, paper->abstract, bag_add_word, &maker);
	for (size_t i = 0; i < paper->category_count; i++)
		bag_add_category(&maker, paper->categories[i]);

	struct bag *bag = arena_new_of(arena, struct bag);
	bag->count = bag_merge(maker.terms, maker.count);
	bag->terms = maker.terms;
	bag->dense = paper->dense;
	bag->dense_length = paper->dense ? paper->dense_length : 0;
	bag->dense_space = paper->dense_space;
	return bag;
}
