/** Splits text into stemmed words.
 *
 * A word is a run of letters and digits, converted to lower case and reduced to its stem (Porter2,
 * Snowball's "English"). Stop words, single characters, numbers and web addresses are left out. A
 * hyphen separates words ("self-supervised" is two words), and so do bytes that are not valid
 * UTF-8.
 *
 * A splitter must not be used by two threads at the same time.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct word_splitter;

/** One word of a text. */
struct word {
	const char *stem; /* NUL-terminated; valid until the splitter's next word */
	size_t stem_length;
	const char *text; /* the original word in the text that was passed, `length` bytes */
	size_t length;
	bool follows; /* only spaces, hyphens or an 's are between it and the previous word */
};

/** Called for each word, in order. */
typedef void word_cb(void *context, const struct word *word);

/** A splitter in `arena`. */
struct word_splitter *word_splitter_new(struct arena *arena);

/** Call `cb` for every word of `text`. NULL is an empty text. */
void words_each(struct word_splitter *splitter, const char *text, word_cb *cb, void *context);
