/** Checks the content of a segment that comes from a file. */
#pragma once

#include "engine/lexical/segment.h"

#include <stdbool.h>

/** Whether a search and a merge can read every part of the segment without leaving its memory, and
 * rely on its order: posting lists, forward records, hash tables, the lengths of strings, ids and
 * terms that are there once, and the order of documents. segment_open() checks only offsets and
 * counts. Reads the whole segment once. */
bool segment_is_valid(const struct segment *segment);
