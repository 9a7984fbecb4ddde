/** Texts of others (papers, repositories, tickets, runs) in what a model reads. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** The text without what a person who looks at it does not see, but a model reads: control
 * characters but newline and tab, and characters that have no width, change the direction of text
 * or are tags (U+200B to U+200F, U+202A to U+202E, U+2060 to U+2069, U+FEFF, U+E0000 to U+E007F).
 * Kept are a single U+200C or U+200D between two characters from U+0590 on, which are letters of
 * scripts that need them, or emoji; and where the rest would do something at the code host
 * (base/outside_text.h), one U+200B stands for what is removed.
 * `text` is UTF-8 of `length` bytes. Returns `text` itself if it has none, else a copy in the
 * arena; `*ret_length` is its length. */
const char *clean_text(struct arena *arena, const char *text, size_t length, size_t *ret_length);
