#include "paper/term_index.h"

#define SLOTS_MIN 8

struct term_index term_index_new(struct arena *arena, const void *records, size_t count,
                                 size_t size)
{
	size_t slots = SLOTS_MIN;
	while (slots < count * 2)
		slots *= 2;
	struct term_index index = {
		.records = records,
		.size = size,
		.slots = arena_array(arena, slots, sizeof(*index.slots)),
		.mask = (uint32_t)(slots - 1),
	};
	for (size_t i = 0; i < count; i++) {
		const void *record = index.records + i * size;
		uint32_t slot = term_index_slot(&index, *(const uint32_t *)record);
		while (index.slots[slot] != 0)
			slot = (slot + 1) & index.mask;
		index.slots[slot] = (uint32_t)i + 1;
	}
	return index;
}
