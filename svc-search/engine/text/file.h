/** Writes files atomically. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Write all bytes. Returns false with errno set. */
bool file_write(int file, const void *data, size_t length);

/** Writes the content of a file with file_write(). Returns false with errno set. */
typedef bool file_content_cb(int file, const void *ctx);

/** Replace the file at `path` by what `content` writes: in a temporary file in the same folder,
 * `path` followed by a point and six letters, which is synced and renamed. Returns false with errno
 * set; `path` is then unchanged, unless only the sync of the folder failed: then it is replaced,
 * but the old file can be back after a crash of the system. */
bool file_replace(const char *path, file_content_cb *content, const void *ctx);
