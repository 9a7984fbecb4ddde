/** A base on disk: written once, mapped at start.
 *
 *     header; the blobs of segment, embedder, vectors and inverted file
 *
 * Each blob begins on a multiple of 64 bytes. The header names the format, the byte order, the
 * build of the blobs and whose vectors they are, and a CRC-32 of all that follows and one of itself; a file that is damaged,
 * cut, of another version or another machine's is refused, and the caller makes the index anew.
 */
#pragma once

#include "engine/view.h"

#include <stdbool.h>

/** Rises whenever the blobs, the tokens or the weights of the index change meaning. */
#define SNAPSHOT_VERSION 1

/** Write `base` to `path`: to a temporary file beside it, synced, then renamed over it. Returns
 * false with errno set, and `path` as it was. */
bool snapshot_save(const struct base *base, const char *path);

/** Map the file at `path`. Returns a base with one reference, or NULL when there is none that is
 * whole. */
struct base *snapshot_load(const char *path);
