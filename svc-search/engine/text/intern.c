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

/* The slot of `text`, which has this hash, or the free slot where it is to be added. */
static size_t find_slot(const struct intern *intern, uint32_t hash, const char *text, size_t length)
{
	size_t at = hash & (intern->slot_count - 1);
	for (; intern->slots[at].number != 0; at = (at + 1) & (intern->slot_count - 1)) {
		if (intern->slots[at].hash != hash)
			continue;
		const char *other = intern->pool + intern->offsets[intern->slots[at].number - 1];
		if (strncmp(other, text, length) == 0 && other[length] == '\0')
			return at;
	}
	return at;
}

uint32_t intern_find(const struct intern *intern, const char *text, size_t length)
{
	if (intern->slot_count == 0)
		return INTERN_NONE;
	return intern->slots[find_slot(intern, intern_hash(text, length), text, length)].number - 1;
}

static void grow_slots(struct intern *intern)
{
	size_t count = mem_capacity(intern->slot_count, 1024);
	struct intern_slot *slots = mem_array(count, sizeof(*slots));
	for (size_t i = 0; i < intern->slot_count; i++) {
		size_t at = intern->slots[i].hash & (count - 1);
		if (intern->slots[i].number == 0)
			continue;
		while (slots[at].number != 0)
			at = (at + 1) & (count - 1);
		slots[at] = intern->slots[i];
	}
	free(intern->slots);
	intern->slots = slots;
	intern->slot_count = count;
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
	uint32_t hash = intern_hash(text, length);
	struct intern_slot *slot = &intern->slots[find_slot(intern, hash, text, length)];
	if (slot->number == 0) {
		add_text(intern, text, length);
		*slot = (struct intern_slot){hash, intern->count};
	}
	return slot->number - 1;
}
