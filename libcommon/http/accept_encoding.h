/** Accept-Encoding: the content codings that a client takes (RFC 9110 section 12.5.3). */
#pragma once

#include "http/head.h"

#include <stdbool.h>

enum coding { CODING_GZIP, CODING_BROTLI, CODING_COUNT };

/** Whether the request's Accept-Encoding allows the coding and does not prefer the content as it
 * is. Elements that are not valid are ignored. */
bool coding_is_accepted(const struct http_head *head, enum coding coding);
