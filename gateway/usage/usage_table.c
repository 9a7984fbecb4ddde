/* Open addressing with linear probing. Nothing is removed between two stores, each of which makes
 * the table anew from what is left, in its other half. */
#include "usage/usage_table.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

struct usage_table {
	struct usage_count *slots; /* one of the halves */
	size_t size;
	struct usage_count halves[2][USAGE_TABLE_SLOTS];
};

struct usage_table *usage_table_new(void)
{
	struct usage_table *table = calloc(1, sizeof(*table));
	require(table);
	table->slots = table->halves[0];
	return table;
}

void usage_table_free(struct usage_table *table)
{
	free(table);
}

static size_t hash_of(const struct usage_count *count)
{
	uint64_t random; /* the end of a UUID of version 7 */
	memcpy(&random, count->key.bytes + 8, sizeof(random));
	uint64_t hash = random ^ (uintptr_t)count->family ^ (uint64_t)count->status << 32;
	hash *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio: Knuth, TAOCP 3, section 6.4 */
	return (size_t)(hash >> 32);
}

static bool is_same(const struct usage_count *a, const struct usage_count *b)
{
	return a->family == b->family && a->status == b->status && a->day == b->day &&
	       memcmp(&a->key, &b->key, sizeof(a->key)) == 0;
}

/* The slot of a count; an empty one: it has none yet. */
static struct usage_count *slot_find(struct usage_count *slots, const struct usage_count *count)
{
	size_t i = hash_of(count) % USAGE_TABLE_SLOTS;
	while (slots[i].requests > 0 && !is_same(&slots[i], count))
		i = (i + 1) % USAGE_TABLE_SLOTS;
	return &slots[i];
}

bool usage_table_add(struct usage_table *table, const struct usage_count *request)
{
	struct usage_count *slot = slot_find(table->slots, request);
	if (slot->requests > 0) {
		slot->requests++;
		return true;
	}
	if (table->size == USAGE_TABLE_MAX)
		return false;
	*slot = *request;
	slot->requests = 1;
	slot->taken = 0;
	table->size++;
	return true;
}

size_t usage_table_size(const struct usage_table *table)
{
	return table->size;
}

struct usage_count *usage_table_take(struct usage_table *table, struct arena *arena,
                                     size_t *ret_count)
{
	struct usage_count *counts = arena_array(arena, MAX_OF(table->size, 1), sizeof(*counts));
	size_t count = 0;
	for (size_t i = 0; i < USAGE_TABLE_SLOTS; i++) {
		struct usage_count *slot = &table->slots[i];
		slot->taken = slot->requests;
		if (slot->requests > 0)
			counts[count++] = *slot;
	}
	*ret_count = count;
	return counts;
}

void usage_table_stored(struct usage_table *table)
{
	struct usage_count *before = table->slots;
	table->slots = table->halves[before == table->halves[0]];
	memset(table->slots, 0, sizeof(table->halves[0]));
	table->size = 0;
	for (size_t i = 0; i < USAGE_TABLE_SLOTS; i++) {
		if (before[i].requests == before[i].taken)
			continue;
		struct usage_count *slot = slot_find(table->slots, &before[i]);
		*slot = before[i];
		slot->requests -= before[i].taken;
		slot->taken = 0;
		table->size++;
	}
}
