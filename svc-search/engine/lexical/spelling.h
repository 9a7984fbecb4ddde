/** A word that papers hold for one that none of them does: a misspelled query finds what was meant.
 *
 * Two words are near when few of the usual slips of a typist lie between them: a letter too many,
 * one too few, a wrong one, or two neighbours swapped (Damerau, "A technique for computer detection
 * and correction of spelling errors", 1964). One slip is allowed in a word of SPELLING_LEAST letters,
 * two in one of SPELLING_LONG; the first letter is taken for right.
 */
#pragma once

#include "engine/lexical/segment.h"

/** Letters of the shortest term that is corrected, and of the shortest in which two slips are. */
#define SPELLING_LEAST 5
#define SPELLING_LONG  9

/** Documents that must hold a word for it to be what was meant. */
#define SPELLING_LEAST_DF 3

/** The number of the term that is nearest to `text`, and of equally near ones the commonest;
 * SEGMENT_NONE when none is near, or `text` is not all ASCII letters. Looks at every term that
 * begins with the same letter: some milliseconds for a million papers. */
uint32_t spelling_nearest(const struct segment *segment, const char *text, size_t length);
