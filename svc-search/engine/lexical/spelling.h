/** Corrects misspelled query terms: finds the indexed term with the least edit distance.
 *
 * An edit inserts, deletes or replaces a letter, or swaps two adjacent letters (Damerau, "A
 * technique for computer detection and correction of spelling errors", 1964). Terms of
 * SPELLING_MIN_LENGTH letters may differ by one edit, terms of SPELLING_TWO_EDITS letters by two.
 * The first letter must match.
 */
#pragma once

#include "engine/lexical/segment.h"

/** Letters of the shortest term that is corrected. */
#define SPELLING_MIN_LENGTH 5

/** Letters of the shortest term that may differ by two edits. */
#define SPELLING_TWO_EDITS 9

/** A correction must occur in at least this many documents. */
#define SPELLING_MIN_DF 3

/** Number of documents of the index that contain a term. */
typedef uint32_t spelling_df_fn(const char *text, size_t length, const void *ctx);

/** The term of the `count` segments with the least edit distance to `text`, of those the most
 * frequent one by `df`, and of those the alphabetically first. NULL if no term is near enough or
 * `text` is not all ASCII letters. Borrowed from a segment. Compares the terms with the same first
 * letter, which takes about 1 ms for each million terms of the index. */
const char *spelling_nearest(const struct segment *const *segments, size_t count, const char *text,
                             size_t length, spelling_df_fn *df, const void *ctx);
