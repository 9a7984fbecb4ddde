/* Open addressing with linear probing. Nothing is removed but by making the table anew. */
#include "usage/usage_table.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64 /* a power of two */

struct usage_table {
	struct usage_count *slots;
	size_t capacity; /* slots, a power of two; three quarters of them are used at most */
	size_t size;
};

static struct usage_count *slots_new(size_t capacity)
{
	struct usage_count *slots = calloc(capacity, sizeof(*slots));
	require(slots);
	return slots;
}

struct usage_table *usage_table_new(void)
{
	struct usage_table *table = calloc(1, sizeof(*table));
	require(table);
	table->capacity = SLOTS_MIN;
	table->slots = slots_new(SLOTS_MIN);
	return table;
}

void usage_table_free(struct usage_table *table)
{
	if (!table)
		return;
	free(table->slots);
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
static struct usage_count *slot_find(const struct usage_table *table,
                                     const struct usage_count *count)
{
	size_t i = hash_of(count) % table->capacity;
	while (table->slots[i].family && !is_same(&table->slots[i], count))
		i = (i + 1) % table->capacity;
	return &table->slots[i];
}

static bool is_full(size_t size, size_t capacity)
{
	return size >= capacity / 4 * 3;
}

/* Make the table anew, of what has been counted, with this capacity. */
static void rebuild(struct usage_table *table, size_t capacity)
{
	struct usage_table before = *table;
	*table = (struct usage_table){.slots = slots_new(capacity), .capacity = capacity};
	for (size_t i = 0; i < before.capacity; i++)
		if (before.slots[i].requests > 0) {
			*slot_find(table, &before.slots[i]) = before.slots[i];
			table->size++;
		}
	free(before.slots);
}

bool usage_table_add(struct usage_table *table, const struct usage_count *request)
{
	struct usage_count *slot = slot_find(table, request);
	if (slot->family) {
		slot->requests++;
		return true;
	}
	if (table->size == USAGE_TABLE_MAX)
		return false;
	if (is_full(table->size, table->capacity)) {
		rebuild(table, 2 * table->capacity);
		slot = slot_find(table, request);
	}
	*slot = *request;
	slot->requests = 1;
	table->size++;
	return true;
}

size_t usage_table_size(const struct usage_table *table)
{
	return table->size;
}

struct usage_count *usage_table_copy(const struct usage_table *table, struct arena *arena,
                                     size_t *ret_count)
{
	struct usage_count *counts = arena_array(arena, MAX_OF(table->size, 1), sizeof(*counts));
	size_t count = 0;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].requests > 0)
			counts[count++] = table->slots[i];
	*ret_count = count;
	return counts;
}

void usage_table_subtract(struct usage_table *table, const struct usage_count *stored, size_t count)
{
	for (size_t i = 0; i < count; i++)
		slot_find(table, &stored[i])->requests -= stored[i].requests;
}

void usage_table_shrink(struct usage_table *table)
{
	size_t left = 0, capacity = SLOTS_MIN;
	for (size_t i = 0; i < table->capacity; i++)
		left += table->slots[i].requests > 0;
	while (is_full(left, capacity))
		capacity *= 2;
	rebuild(table, capacity);
}
