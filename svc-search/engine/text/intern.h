/** Assigns numbers to strings, from 0 in the order in which they are first added.
 *
 * This is not uthash. A merge interns each distinct term of a corpus and looks up each token. Here
 * a string costs its bytes, 8 bytes of offset and 12 to 24 bytes of slots, in three arrays; a
 * uthash entry would cost 72 bytes and a separately allocated string, and would still need an array
 * to find the string of a number. segment.h uses the same hash for tables that are stored in a
 * file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Returned by intern_find() if the string was never added. */
#define INTERN_NONE UINT32_MAX

struct intern_slot {
	uint32_t hash;
	uint32_t number; /* of the string + 1; 0: the slot is free */
};

/** Zero-initialise; release with intern_done(). */
struct intern {
	char *pool; /* the strings one after another, each NUL-terminated */
	size_t pool_length;
	size_t pool_capacity;
	size_t *offsets; /* into the pool, by number */
	size_t offsets_capacity;
	struct intern_slot *slots; /* open-addressing hash table */
	size_t slot_count;         /* a power of two, or 0 */
	uint32_t count;            /* strings added */
};

void intern_done(struct intern *intern);

/** The number of `text`, which has `length` bytes and no NUL. Copies a new string. */
uint32_t intern_add(struct intern *intern, const char *text, size_t length);

/** The number of `text`, or INTERN_NONE if it was never added. */
uint32_t intern_find(const struct intern *intern, const char *text, size_t length);

/** The string with this number. Borrowed; valid until the next intern_add(). */
const char *intern_text(const struct intern *intern, uint32_t number);

/** The hash of the string tables here and in segments: FNV-1a with a final mix. */
uint32_t intern_hash(const char *text, size_t length);
