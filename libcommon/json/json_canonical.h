/** The canonical form of JSON (RFC 8785): one text for one value, in whatever order and spelling it
 * was written. So a hash of it can be computed again by others, and by what a database has made of
 * the value. Numbers are doubles there: integers from 2^53 on are rounded. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stddef.h>

/** The canonical text of a value that json_parse() has read, NUL-terminated, in the arena;
 * `ret_length` may be NULL. */
char *json_canonical(struct arena *arena, yyjson_val *value, size_t *ret_length);
