/** Reading JSON from a file. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <yyjson.h>

#include <stddef.h>

/** Read and parse the file as json_parse() does. ERR_INVALID: it cannot be read, has more than
 * `max_bytes`, or is not JSON; `ret_why` says so, as the rest of a sentence behind the path. */
enum err_code json_file_read(struct arena *arena, const char *path, size_t max_bytes,
                             yyjson_val **ret_root, const char **ret_why);
