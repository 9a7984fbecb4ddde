/** Writes application/x-www-form-urlencoded (WHATWG URL, section 5.2), for bodies and query
 * strings. */
#pragma once

#include "base/arena.h"

/** Append `name=value`, the value percent-encoded, after a `&` unless `out` is empty or ends with
 * `?` or `&`. */
void form_add(struct buf *out, const char *name, const char *value);
