/** UTF-8 (RFC 3629) as far as checking and counting go. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Length in bytes of the well-formed sequence at `text` (at most `length` bytes), 0 when there is
 * none: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t utf8_sequence(const char *text, size_t length);

bool utf8_is_valid(const char *text, size_t length);

/** Code points of well-formed text. */
size_t utf8_count(const char *text, size_t length);
