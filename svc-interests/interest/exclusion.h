/** Finds what an interest's text refuses: "no video please", "video is out of scope", "we are not
 * interested in speech or audio", and the lists under headings such as "Non-goals".
 *
 *   cue        words that refuse what stands after or before them
 *   exclusion  a cue with what it refuses, up to the end of the clause
 *   item       one thing that is refused: "video", "image generation"
 *
 * "No" and "not" are cues only where a clause begins: "text, no video", but not "there is no
 * benchmark" or "not only". What follows "without" is refused as well; whether a paper has it is
 * decided by its own words, of which "without labels" is no label (ranking/refusal.h). */
#pragma once

#include "base/arena.h"

#include <stddef.h>

struct exclusions {
	const char *kept;         /* the text without its exclusions */
	const char *const *items; /* in order of the text */
	size_t count;
};

/** Find the exclusions of `text`. In `arena`. */
struct exclusions exclusions_find(struct arena *arena, const char *text);
