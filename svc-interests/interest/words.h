/** Words in a text: whether they stand at a place or before it, and how many there are. English
 * letters count in upper and lower case alike; an apostrophe stands for the typographic one,
 * too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** A part of a text. */
struct span {
	const char *start, *end;
};

/** A letter, a digit, or a byte of a character that is not ASCII. */
bool is_word_char(char c);

/** Whether the text begins with `prefix`, which is in lower case. */
bool words_begin(const char *text, const char *end, const char *prefix);

/** Whether the words stand at `text`, with no letter of `all` before or after them. Sets their
 * end. */
bool words_at(const char *text, struct span all, const char *words, const char **ret_after);

/** Whether one of the words stands at `text`. */
bool words_one_at(const char *text, const char *end, const char *const *words, size_t count);

/** Where one of the words begins that ends before `text`, blanks aside; NULL: none does. */
const char *words_before(const char *text, const char *start, const char *const *words,
                         size_t count);

/** The next word character. */
const char *words_skip_blank(const char *text, const char *end);

size_t words_count(struct span span);
