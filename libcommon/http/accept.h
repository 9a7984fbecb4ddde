/** Choosing the media type of a response by the request's Accept (RFC 9110 section 12.5.1). */
#pragma once

#include "http/head.h"

#include <stddef.h>

/** No media type that is offered is acceptable. */
#define HTTP_ACCEPT_NONE ((size_t)-1)

/** The number of the media type, among `count` that are offered without parameters, which the
 * request prefers; of equally good ones the first. Without the field each is as good. Elements that
 * are not valid, and parameters of media types, are ignored. */
size_t http_accept_choose(const struct http_head *head, const char *const *offers, size_t count);
