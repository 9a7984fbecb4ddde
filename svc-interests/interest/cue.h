/** Cues: words of an interest's text that refuse what stands after or before them (exclusion.h). */
#pragma once

#include "interest/words.h"

/* Where a cue may stand, and how far what it refuses reaches. */
enum cue_kind {
	CUE_CLAUSE, /* where a clause begins; to the next comma, or over a list that "or" closes */
	CUE_SHORT,  /* anywhere; as far */
	CUE_LONG,   /* anywhere; to the end of the sentence or a new clause */
	CUE_ORDER,  /* as CUE_LONG, where a clause begins or after "please", "we" and such */
	CUE_OWN,    /* as CUE_ORDER, with "do" or "will" between; not "not want to wait" */
};

struct cue {
	const char *words;
	enum cue_kind kind;
};

/** Whether a cue can begin at `text`: with the first letter of a word, or the "n" of "n't". To be
 * asked first, because there are a hundred cues. */
bool cue_can_begin(const char *text, const char *start);

/** The cue at `text` that refuses what follows it; NULL: there is none. Sets its end. */
const struct cue *cue_at(const char *text, struct span sentence, const char **ret_after);

/** Whether a cue stands at `text` that refuses its subject, before it. Sets its end. */
bool cue_after_at(const char *text, struct span sentence, const char **ret_after);

/** The beginning of "we do" or "I will" before `text`, or `text`. */
const char *cue_subject(const char *text, const char *start);
