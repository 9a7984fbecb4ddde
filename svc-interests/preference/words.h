/** Splitting text into stemmed words.
 *
 * A word is a run of letters and digits, lower-cased and reduced to its stem (Porter2, "English" of
 * Snowball). Left out are stop words, single characters, bare numbers and web addresses. A hyphen
 * splits ("self-supervised" is two words). Bytes that are not UTF-8 split too, and harm nothing.
 *
 * A splitter belongs to one thread at a time.
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
	const char *text; /* as it stands in the text that was passed, `length` bytes */
	size_t length;
	bool follows; /* nothing but a space, a hyphen or an 's parts it from the word before */
};

/** Called for each word in order. */
typedef void word_cb(void *context, const struct word *word);

/** A splitter in `arena`. */
struct word_splitter *word_splitter_new(struct arena *arena);

/** Call `cb` for every word of `text`. NULL is an empty text. */
void words_each(struct word_splitter *splitter, const char *text, word_cb *cb, void *context);
