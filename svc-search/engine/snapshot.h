/** A view as a file: written once, mapped into memory at start-up.
 *
 *     header; places of the blobs; embedder; for each part: segment, vectors, inverted file and the
 *     bitmap of its living documents
 *
 * Each blob starts at a multiple of 64 bytes. The header holds the progress of the index, the
 * format, the byte order, the version of the index, a number for the name of the external embedder,
 * a CRC-32 of everything after the header, and a CRC-32 of the header itself. The embedder is the
 * built-in one that made the vectors; its bytes give its version. A file that is damaged,
 * truncated, of another version or of another byte order is refused, and the caller rebuilds the
 * index.
 */
#pragma once

#include "engine/view.h"

#include <stdbool.h>

/** Increase it whenever the meaning of the blobs, the tokens or the weights of the index
 * changes. */
#define SNAPSHOT_VERSION 8

/** Write `view` to `path` atomically: to a temporary file in the same folder, which is synced and
 * renamed. Returns false with errno set; `path` is then unchanged, or replaced but not durably: see
 * file_replace(). */
bool snapshot_save(const struct engine_view *view, const char *path);

/** View the `length` bytes of a snapshot at `data`, aligned to 64. Borrows them. Returns a view
 * with one reference, or NULL when they are refused, as those with another external embedder than
 * `external` (NULL: built-in) are. */
struct engine_view *snapshot_open(void *data, size_t length, const char *external);

/** Map the file at `path`. Returns a view with one reference, or NULL when the file is missing or
 * refused. */
struct engine_view *snapshot_load(const char *path, const char *external);
