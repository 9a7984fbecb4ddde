/** UTF-8 (RFC 3629): validating, repairing and counting. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The length of the well-formed sequence at the start of `text`, which has `length` bytes; 0:
 * there is none. Overlong forms, surrogates and values above U+10FFFF are not well-formed. */
size_t utf8_sequence(const char *text, size_t length);

/** The code point of a well-formed sequence of `size` bytes (RFC 3629 section 3). */
uint32_t utf8_code_point(const char *sequence, size_t size);

bool utf8_is_valid(const char *text, size_t length);

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/** Append text from outside as Postgres and JSON take it: U+FFFD for each NUL and each byte that is
 * not UTF-8. */
void utf8_repair(struct buf *out, const char *text, size_t length);

/** The length of the longest prefix of `text` that has at most `max` bytes and does not end inside
 * a sequence. */
size_t utf8_cut(const char *text, size_t length, size_t max);

/** The length of the first `max` code points of `text`, or of all where it has no more. */
size_t utf8_cut_points(const char *text, size_t length, size_t max);

/** `text`, or if it has more than `max` bytes that prefix of it and an ellipsis; in the arena. */
const char *utf8_shorten(struct arena *arena, const char *text, size_t max);

/** The number of code points in well-formed text. */
size_t utf8_count(const char *text, size_t length);
