/** Strings that become small numbers, in order of first appearance. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** What intern_find() answers for a string that is not there. */
#define INTERN_NONE UINT32_MAX

/** Zero-initialise; done with intern_done(). */
struct intern {
	char *pool; /* the strings one after another, each NUL-terminated */
	size_t pool_length;
	size_t pool_capacity;
	size_t *offsets; /* into the pool, by number */
	size_t offsets_capacity;
	uint32_t *slots;   /* hash table: number + 1, 0 is free */
	size_t slot_count; /* a power of two, or 0 */
	uint32_t count;
};

void intern_done(struct intern *intern);

/** The number of `text` of `length` bytes (no NUL among them); copies it when it is new. */
uint32_t intern_add(struct intern *intern, const char *text, size_t length);

/** The number of `text`, INTERN_NONE when it was never added. */
uint32_t intern_find(const struct intern *intern, const char *text, size_t length);

/** The string that `number` stands for; borrows, until the next intern_add(). */
const char *intern_text(const struct intern *intern, uint32_t number);

/** The hash that tables of strings here and in segments use (FNV-1a with a final mix). */
uint32_t intern_hash(const char *text, size_t length);
