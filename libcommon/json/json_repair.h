/** Makes text of outside servers fit for json_parse_lenient(): it is JSON by and large, but has
 * characters and depths that this system does not take. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** What of a text is left out, to bound what it costs. */
struct json_filter {
	/* Members of the outermost object whose values stay, those of others become null; ends with
	 * NULL. NULL: all stay. */
	const char *const *members;
	size_t text_max; /* bytes; longer texts become empty. 0: none does */
	/* Members of any object whose texts may be longer; ends with NULL. NULL: none. */
	const char *const *long_texts;
	size_t long_text_max; /* bytes, of these */
};

/** What is left of a text. */
struct json_repaired {
	char *text;        /* NULL from json_repair_measure() */
	size_t length;     /* at most three times that of the text */
	size_t values_max; /* values and names that it can have */
};

/** The size of what json_repair() makes of a text. Uses no memory. */
struct json_repaired json_repair_measure(const char *text, size_t length,
                                         const struct json_filter *filter);

/** A copy of the text in the arena, followed by `padding` bytes of zero, with
 *
 *   - U+FFFD for a NUL in a string, written raw or as \u0000, which Postgres refuses; for half a
 *     surrogate pair; for each byte that is not UTF-8; for raw control characters
 *   - the escape sequences of raw tabs and line breaks in strings
 *   - null for each array and object nested deeper than JSON_MAX_DEPTH
 *
 * without a byte order mark and without what `filter` (may be NULL) leaves out. What is not JSON
 * for another reason stays so, except in what is left out. */
struct json_repaired json_repair(struct arena *arena, const char *text, size_t length,
                                 const struct json_filter *filter, size_t padding);
