/** A short word as a few integers, which are compared, folded and hashed eight bytes at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WORD_KEY_PARTS 3

/** Bytes of the longest word that has a key. */
#define WORD_KEY_BYTES (WORD_KEY_PARTS * sizeof(uint64_t))

/** The bytes of a word as they are in memory, zeros after them. All zero: no word. */
struct word_key {
	uint64_t parts[WORD_KEY_PARTS];
};

/** The key of `word`, which has at most WORD_KEY_BYTES bytes. */
static inline struct word_key word_key_of(const char *word, size_t length)
{
	struct word_key key = {{0}};
	memcpy(&key, word, length);
	return key;
}

static inline bool word_key_is_equal(const struct word_key *a, const struct word_key *b)
{
	return ((a->parts[0] ^ b->parts[0]) | (a->parts[1] ^ b->parts[1]) |
	        (a->parts[2] ^ b->parts[2])) == 0;
}

/** A hash whose high bits depend on all bytes. The factors are odd fractions of the golden
 * ratio. */
static inline uint32_t word_key_hash(const struct word_key *key)
{
	uint64_t hash = key->parts[0] * UINT64_C(0x9E3779B97F4A7C15);
	hash ^= key->parts[1] * UINT64_C(0xC2B2AE3D27D4EB4F) + (hash >> 29);
	hash ^= key->parts[2] * UINT64_C(0x165667B19E3779F9) + (hash >> 31);
	hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t)(hash >> 32);
}
