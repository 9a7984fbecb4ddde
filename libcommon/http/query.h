/** Query parameters of a target: `a=1&b=two%20words`. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** The decoded value of the first parameter `name` in a query (without `?`; may be NULL): `+` is a
 * space, `%XX` a byte. In the arena. NULL: absent, or it has invalid percent-encoding, a NUL or
 * invalid UTF-8. `ret_count` (may be NULL): how often the name occurs. */
const char *query_get(struct arena *arena, const char *query, size_t length, const char *name,
                      size_t *ret_count);

/** Percent-encode all but the unreserved characters of RFC 3986. In the arena. */
char *query_encode(struct arena *arena, const char *text);
