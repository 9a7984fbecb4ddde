/** A hash index of records by the id of their term, for inner loops: open addressing with linear
 * probing, at least half of the slots free. */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct term_index {
	const char *records; /* borrowed; the first member of each is its uint32_t id */
	size_t size;         /* of a record, in bytes */
	uint32_t *slots;     /* number of a record, from 1; 0: free */
	uint32_t mask;       /* number of slots, a power of two, less 1 */
};

/** Index `count` records with different ids. In the arena. */
struct term_index term_index_new(struct arena *arena, const void *records, size_t count,
                                 size_t size);

/** Where the search for an id begins. The multiplier is 2^32 divided by the golden ratio (Knuth,
 * TAOCP 3, 6.4). */
static inline uint32_t term_index_slot(const struct term_index *index, uint32_t id)
{
	uint32_t hash = id * 2654435769u;
	return (hash ^ hash >> 15) & index->mask;
}

/** The record of the id; NULL: there is none. */
static inline const void *term_index_find(const struct term_index *index, uint32_t id)
{
	for (uint32_t slot = term_index_slot(index, id); index->slots[slot] != 0;
	     slot = (slot + 1) & index->mask) {
		const char *record = index->records + (index->slots[slot] - 1) * index->size;
		if (*(const uint32_t *)(const void *)record == id)
			return record;
	}
	return NULL;
}
