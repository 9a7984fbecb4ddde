/** Printing what came from outside, so that a terminal shows it and obeys nothing in it.
 *
 * These characters are written as escapes: the control characters of ASCII and of Latin-1 (C1, of
 * which U+009B begins a command as ESC [ does), which move the cursor, set the title or answer as
 * if somebody typed; those that set the direction of text, which show it in another order than it
 * has; the line and paragraph separators; and bytes that are not UTF-8. Escapes are those of JSON
 * (\r, \u001b, \u202e), so that JSON stays the JSON that it is; a byte is \xff.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Whether the well-formed sequence of `size` bytes (utf8_sequence()) is such a character. Then
 * `ret_code` is its code point, of at most four hexadecimal digits. */
bool terminal_obeys(const char *sequence, size_t size, uint32_t *ret_code);

/** Print text that may have several lines: line feeds and tabs are printed as they are. */
void terminal_print(FILE *out, const char *text, size_t length);

/** The text for a part of a line, NUL-terminated, in the arena: line feeds and tabs are escaped
 * too. NULL: "". */
const char *terminal_text(struct arena *arena, const char *text);
