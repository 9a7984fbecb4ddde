#include "engine/text/intern.h"

#include "engine/text/mem.h"

uint32_t intern_hash(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	hash ^= hash >> 16;
	hash *= 0x7FEB352Du;
	return hash ^ hash >> 15;
}

void intern_done(struct intern *intern)
{
	free(intern->pool);
	free(intern->offsets);
	free(intern->slots);
	*intern = (struct intern){0};
}

const char *intern_text(const struct intern *intern, uint32_t number)
{
	require(number < intern->count);
	return intern->pool + intern->offsets[number];
}

/* The slot of `text`, or the free slot where it is to be added. */
static size_t find_slot(const struct intern *intern, const char *text, size_t length)
{
	size_t at = intern_hash(text, length) & (intern->slot_count - 1);
	while (intern->slots[at] != 0) {
		const char *other = intern->pool + intern->offsets[intern->slots[at] - 1];
		if (strncmp(other, text, length) == 0 && other[length] == '\0')
			return at;
		at = (at + 1) & (intern->slot_count - 1);
	}
	return at;
}

uint32_t intern_find(const struct intern *intern, const char *text, size_t length)
{
	if (intern->slot_count == 0)
		return INTERN_NONE;
	return intern->slots[find_slot(intern, text, length)] - 1;
}

static void grow_slots(struct intern *intern)
{
	intern->slot_count = mem_capacity(intern->slot_count, 1024);
	free(intern->slots);
	intern->slots = mem_array(intern->slot_count, sizeof(uint32_t));
	for (uint32_t i = 0; i < intern->count; i++) {
		const char *text = intern_text(intern, i);
		intern->slots[find_slot(intern, text, strlen(text))] = i + 1;
	}
}

static void add_text(struct intern *intern, const char *text, size_t length)
{
	size_t needed = intern->pool_length + length + 1;
	if (needed > intern->pool_capacity) {
		intern->pool_capacity = mem_capacity(intern->pool_capacity, needed);
		intern->pool = mem_resize(intern->pool, intern->pool_capacity, 1);
	}
	if (intern->count == intern->offsets_capacity) {
		intern->offsets_capacity = mem_capacity(intern->offsets_capacity, 1024);
		intern->offsets =
			mem_resize(intern->offsets, intern->offsets_capacity, sizeof(size_t));
	}
	intern->offsets[intern->count++] = intern->pool_length;
	memcpy(intern->pool + intern->pool_length, text, length);
	intern->pool[intern->pool_length + length] = '\0';
	intern->pool_length += length + 1;
}

uint32_t intern_add(struct intern *intern, const char *text, size_t length)
{
	if ((intern->count + 1) * (size_t)3 > intern->slot_count * 2)
		grow_slots(intern);
	size_t slot = find_slot(intern, text, length);
	if (intern->slots[slot] == 0) {
		add_text(intern, text, length);
		intern->slots[slot] = intern->count;
	}
	return intern->slots[slot] - 1;
}
