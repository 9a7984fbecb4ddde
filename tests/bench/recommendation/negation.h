/** Contexts with what they refuse (interests/negations.jsonl), and how many of them are understood.
 *
 *     {"set": "held_out", "context": "Music, no lyrics", "refused": ["lyrics"], "wanted": ["Music"]}
 *
 * A context is understood when no refused words are left in it, each of them is an item that was
 * found, and all wanted words are left. The contexts of the set `held_out` were not looked at while
 * the patterns were chosen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct negation_count {
	size_t contexts;
	size_t understood;
};

/** Read the file and count the contexts of a set. `shows` prints those that are not understood.
 * False when the file is missing. */
bool negation_count(const char *path, const char *set, bool shows,
                    struct negation_count *ret_count);
