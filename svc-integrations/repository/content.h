/** The content of a file, as the code host's contents API has it. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

/** Decode an answer with a file: `{"type": "file", "encoding": "base64", "content": "…\n…"}`.
 * Followed by a NUL, in the request's arena. NULL: it is a folder, a link or a submodule, or too
 * large for the code host to send it along (1 MB). */
const char *content_bytes(struct request *rq, yyjson_val *file, size_t *ret_length);

/** As content_bytes(), but of at most `max` bytes and as text that can be stored and sent on:
 * U+FFFD stands for each NUL and each byte that is not UTF-8. `ret_is_cut` may be NULL. */
const char *content_text(struct request *rq, yyjson_val *file, size_t max, bool *ret_is_cut);
