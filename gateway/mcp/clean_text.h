/** Texts of others (papers, repositories, tickets, runs) in what a model reads. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** The text without what a person who looks at it does not see, but a model reads: control
 * characters but newline and tab, and characters that have no width, change the direction of text
 * or are tags (U+200B to U+200F, U+202A to U+202E, U+2060 to U+2069, U+FEFF, U+E0000 to U+E007F).
 * U+200B stays where outside_text() puts it: what a model writes from a brief is shown at the code
 * host, where a mention without it would be one. `text` is UTF-8 of `length` bytes. Returns `text`
 * itself if it has none, else a copy in the arena; `*ret_length` is its length. */
const char *clean_text(struct arena *arena, const char *text, size_t length, size_t *ret_length);
