/** Query parameters of a target: `a=1&b=two%20words`. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** The decoded value of the first parameter `name` of a query (without `?`; NULL is fine): `+` is a
 * space, `%XX` a byte. NULL: absent, or not decodable: broken percent-encoding, a NUL or invalid
 * UTF-8. `ret_count` (may be NULL): how often the name occurs. */
const char *query_get(struct arena *arena, const char *query, size_t length, const char *name,
                      size_t *ret_count);

/** `text` with everything but RFC 3986's unreserved characters percent-encoded, in the arena. */
char *query_encode(struct arena *arena, const char *text);
