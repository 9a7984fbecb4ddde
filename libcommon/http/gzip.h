/** The content coding gzip (RFC 9110 section 8.4.1.3) of responses. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct gzip;

/** Start to compress; freed with the arena. `length`: of the whole content, which saves memory when
 * it is small. */
struct gzip *gzip_new(struct arena *arena, size_t length);

/** Compress a piece; `is_last` ends the stream. Returns the compressed bytes that are ready, which
 * may be none; valid until the next call. 64 KiB take about a millisecond. */
const char *gzip_add(struct gzip *gzip, const char *data, size_t length, bool is_last,
                     size_t *ret_length);
