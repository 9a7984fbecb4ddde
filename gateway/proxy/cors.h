/** Cross-origin requests of browsers (Fetch Standard, "CORS protocol"). Off unless CORS_ORIGINS
 * lists origins. The API uses no cookies, so credentials are never allowed. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "http/head.h"

#include <stdbool.h>

struct cors;

/** Parse a list of origins, separated by commas or spaces: `https://app.example.org`, or `*` for
 * all. In the arena. *ret_cors is NULL when the list is empty. ERR_INVALID: an element is not an
 * origin. */
enum err_code cors_parse(struct arena *arena, const char *text,
                         const struct cors **ret_cors) attr_must_use;

/** Whether the origin is listed. */
bool cors_has(const struct cors *cors, const char *origin);

#define CORS_FIELDS_MAX 5

/** Write the fields for the answer to a request of an origin that is listed: which origin may read
 * it, and which of its fields. Returns how many: 0 when there is no such origin. */
size_t cors_fields(const struct cors *cors, const struct http_head *head,
                   struct http_field fields[CORS_FIELDS_MAX]);

/** Whether the request is a preflight of an origin that is listed: it asks what requests are
 * allowed. */
bool cors_is_preflight(const struct cors *cors, const struct http_head *head);

/** Write the fields of the answer to a preflight. Returns how many. */
size_t cors_preflight_fields(const struct cors *cors, const struct http_head *head,
                             struct http_field fields[CORS_FIELDS_MAX]);
