/** Repairs XML that a strict parser refuses for a single character. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** A copy of `xml` in which each character that XML 1.0 forbids (section 2.2: U+0003, U+FFFE), each
 * byte that is not valid UTF-8, and each reference to such a character (`&#x3;`, `&#xD800;`) is
 * U+FFFD, and an ampersand that begins no reference of XML (`AT&T`, `&eacute;`) is `&amp;`.
 * References and ampersands in CDATA sections are text and are kept. Elements are not repaired. In
 * the arena, NUL-terminated. */
struct buf xml_repair(struct arena *arena, const char *xml, size_t length);
