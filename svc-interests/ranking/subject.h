/** What of an interest's words says what it is about. People write for people; searching wants the
 * subject alone.
 *
 *   web addresses   become the words of their paths, less those that only say what kind of page it
 *                   is: https://github.com/Dao-AILab/flash-attention is `flash attention`, and
 *                   https://arxiv.org/abs/2205.14135 nothing (links.h reads that)
 *   the unwanted    what comes after "we do not want" and its like is left out, up to the end of
 *                   the sentence or to a "but"
 *   function words  of a language other than English are left out: papers are English, where a
 *                   German "von" is a rare and telling word
 */
#pragma once

#include "base/arena.h"

/** The subject of `text`, in `arena`. Where nothing would be left of it, the text as it is. */
const char *subject_of(struct arena *arena, const char *text);
