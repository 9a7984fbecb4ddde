/** Query parameters of a target: `a=1&b=two%20words`. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/** The decoded value of the first parameter `name` in a query (without `?`; may be NULL): `+` is a
 * space, `%XX` a byte. In the arena. NULL: absent, or it has invalid percent-encoding, a NUL or
 * invalid UTF-8. `ret_count` (may be NULL): how often the name occurs. */
const char *query_get(struct arena *arena, const char *query, size_t length, const char *name,
                      size_t *ret_count);

/** As query_get(), for a form that a server outside has made: the value may be any bytes, followed
 * by a NUL. `name` needs no percent-encoding. NULL: absent, or its percent-encoding is invalid. */
const char *query_get_bytes(struct arena *arena, const char *query, size_t length, const char *name,
                            size_t *ret_length);

/** A decoded parameter; `value` is "" for a name without `=`. */
struct query_param {
	const char *name, *value;
};

/** Read the next parameter of the NUL-terminated query at *at (NULL: none) and advance *at. Skips
 * those that query_get() could not decode, and empty ones. In the arena. False: there is none. */
bool query_next(struct arena *arena, const char **at, struct query_param *ret_param);

/** All parameters of a query (without `?`; may be NULL), empty pieces left out. Returns their
 * number. A name or value that query_get() could not decode is NULL. In the arena. */
size_t query_params(struct arena *arena, const char *query, size_t length,
                    struct query_param **ret_params);

/** Percent-encode all but the unreserved characters of RFC 3986. In the arena. */
char *query_encode(struct arena *arena, const char *text);

/** The opposite: each `%XX` is a byte, all else stays, `+` too. NULL: as query_get(). In the
 * arena. */
const char *query_decode(struct arena *arena, const char *text, size_t length);

/** Append `name=value` to a query string or an application/x-www-form-urlencoded body (WHATWG URL
 * section 5.2), the value percent-encoded, after a `&` unless `out` is empty or ends with `?` or
 * `&`. */
void form_add(struct buf *out, const char *name, const char *value);
