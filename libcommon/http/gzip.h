/** The content coding gzip (RFC 9110 section 8.4.1.3) of responses. */
#pragma once

#include "base/arena.h"
#include "http/head.h"

#include <stdbool.h>
#include <stddef.h>

/** Whether the request's Accept-Encoding allows gzip and does not prefer the content as it is (RFC
 * 9110 section 12.5.3). Elements that are not valid are ignored. */
bool gzip_is_accepted(const struct http_head *head);

struct gzip;

/** Start to compress; freed with the arena. `length`: of the whole content, which saves memory when
 * it is small. */
struct gzip *gzip_new(struct arena *arena, size_t length);

/** Compress a piece; `is_last` ends the stream. Returns the compressed bytes that are ready, which
 * may be none; valid until the next call. 64 KiB take about a millisecond. */
const char *gzip_add(struct gzip *gzip, const char *data, size_t length, bool is_last,
                     size_t *ret_length);
