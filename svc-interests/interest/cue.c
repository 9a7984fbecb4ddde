#include "interest/cue.h"

#include "base/base.h"

#include <ctype.h>
#include <string.h>

/* Cues that stand before what they refuse. Of several that match, the first. An apostrophe stands
 * for the typographic one, too. */
static const struct cue CUES_BEFORE[] = {
	{"not interested in", CUE_LONG},
	{"no interest in", CUE_LONG},
	{"uninterested in", CUE_LONG},
	{"not looking for", CUE_LONG},
	{"not concerned with", CUE_LONG},
	{"not care about", CUE_LONG},
	{"n't care about", CUE_LONG},
	{"not care for", CUE_LONG},
	{"not want", CUE_OWN},
	{"n't want", CUE_OWN},
	{"not need", CUE_OWN},
	{"n't need", CUE_OWN},
	{"not include", CUE_OWN},
	{"n't include", CUE_OWN},
	{"not recommend", CUE_OWN},
	{"n't recommend", CUE_OWN},
	{"not show", CUE_OWN},
	{"n't show", CUE_OWN},
	{"not send", CUE_OWN},
	{"n't send", CUE_OWN},
	{"not cover", CUE_OWN},
	{"n't cover", CUE_OWN},
	{"not consider", CUE_OWN},
	{"stay away from", CUE_LONG},
	{"steer clear of", CUE_LONG},
	{"nothing on", CUE_LONG},
	{"nothing about", CUE_LONG},
	{"no papers on", CUE_LONG},
	{"no papers about", CUE_LONG},
	{"no work on", CUE_LONG},
	{"everything but", CUE_LONG},
	{"anything but", CUE_LONG},
	{"excluding", CUE_LONG},
	{"with the exception of", CUE_LONG},
	{"except for", CUE_LONG},
	{"except", CUE_LONG},
	{"apart from", CUE_LONG},
	{"other than", CUE_LONG},
	{"out of scope:", CUE_LONG},
	{"not in scope:", CUE_LONG},
	{"off topic:", CUE_LONG},
	{"off-topic:", CUE_LONG},
	{"non-goals:", CUE_LONG},
	{"non goals:", CUE_LONG},
	{"excluded:", CUE_LONG},
	{"exclude:", CUE_LONG},
	{"avoid", CUE_ORDER},
	{"exclude", CUE_ORDER},
	{"ignore", CUE_ORDER},
	{"skip", CUE_ORDER},
	{"leave out", CUE_ORDER},
	{"leave aside", CUE_ORDER},
	{"omit", CUE_ORDER},
	{"but not", CUE_SHORT},
	{"and not", CUE_SHORT},
	{"but no", CUE_SHORT},
	{"and no", CUE_SHORT},
	{"please no", CUE_SHORT},
	{"nor", CUE_SHORT},
	{"without", CUE_SHORT},
	{"neither", CUE_CLAUSE},
	{"not", CUE_CLAUSE},
	{"no", CUE_CLAUSE},
	{"minus", CUE_CLAUSE},
	/* Other languages; only words that English does not have. */
	{"nicht interessiert an", CUE_LONG},
	{"kein interesse an", CUE_LONG},
	{"aber nicht", CUE_SHORT},
	{"kein", CUE_SHORT},
	{"keine", CUE_SHORT},
	{"keinen", CUE_SHORT},
	{"ohne", CUE_SHORT},
	{"pas de", CUE_SHORT},
	{"no nos interesa", CUE_LONG},
	{"no nos interesan", CUE_LONG},
	{"non ci interessa", CUE_LONG},
	{"non ci interessano", CUE_LONG},
	{"senza", CUE_SHORT},
};

/* Words that make "no" or "not" no cue when they follow it. */
static const char *const NO_CUE[] = {
	"only",   "just", "longer", "matter",      "need",  "doubt",  "one",
	"single", "yet",  "merely", "necessarily", "more",  "less",   "simply",
	"even",   "free", "sure",   "all",         "every", "always",
};

/* Cues that stand after what they refuse. */
static const char *const CUES_AFTER[] = {
	"out of scope",       "out-of-scope",       "off topic",         "off-topic",
	"not in scope",       "not of interest",    "of no interest",    "not relevant",
	"irrelevant",         "not interesting",    "uninteresting",     "not needed",
	"not wanted",         "unwanted",           "not welcome",       "not a goal",
	"not goals",          "a non-goal",         "non-goals",         "not considered",
	"not covered",        "not included",       "not interest us",   "not interest me",
	"n't interest us",    "n't interest me",    "need not apply",    "can be skipped",
	"should be skipped",  "can be ignored",     "should be ignored", "can be left out",
	"should be left out", "should be excluded", "should be avoided", "is excluded",
	"are excluded",       "is not our topic",   "are not our topic", "not our focus",
};

/* Words before a cue of CUE_ORDER. */
static const char *const ORDERING[] = {"please",  "we",   "i",   "should", "must", "want to",
                                       "like to", "also", "and", "but",    "let's"};

/* The last word character before `text` is followed by punctuation: a clause begins at `text`. */
static bool begins_clause(const char *text, const char *start)
{
	while (text > start && isblank((unsigned char)text[-1]))
		text--;
	return text == start || !(is_word_char(text[-1]) || strchr("'\"`%", text[-1]));
}

static const char *const TO = "to";

/* The beginning of "do", "will" or "would" before `text`, or `text`. */
static const char *before_auxiliary(const char *text, const char *start)
{
	static const char *const words[] = {"do", "will", "would"};
	const char *at = words_before(text, start, words, ARRAY_LEN(words));
	return at ? at : text;
}

const char *cue_subject(const char *text, const char *start)
{
	static const char *const words[] = {"we", "i"};
	text = before_auxiliary(text, start);
	const char *at = words_before(text, start, words, ARRAY_LEN(words));
	return at ? at : text;
}

static bool stands_right(const struct cue *cue, const char *text, const char *after,
                         struct span sentence)
{
	if (cue->kind == CUE_SHORT)
		return !words_one_at(words_skip_blank(after, sentence.end), sentence.end, NO_CUE,
		                     ARRAY_LEN(NO_CUE));
	if (cue->kind == CUE_LONG)
		return true;
	if (cue->kind == CUE_OWN) {
		if (words_one_at(words_skip_blank(after, sentence.end), sentence.end, &TO, 1))
			return false;
		text = before_auxiliary(text, sentence.start);
	}
	if (cue->kind == CUE_ORDER || cue->kind == CUE_OWN)
		return begins_clause(text, sentence.start) ||
		       words_before(text, sentence.start, ORDERING, ARRAY_LEN(ORDERING));
	return begins_clause(text, sentence.start) &&
	       !words_one_at(words_skip_blank(after, sentence.end), sentence.end, NO_CUE,
	                     ARRAY_LEN(NO_CUE));
}

bool cue_can_begin(const char *text, const char *start)
{
	if (!isalpha((unsigned char)*text))
		return false;
	return text == start || !is_word_char(text[-1]) || tolower((unsigned char)*text) == 'n';
}

/* words_at(), which is called for the few cues that begin with the letter at `text`. */
static inline bool is_at(const char *words, const char *text, struct span sentence,
                         const char **ret_after)
{
	return (*text | 0x20) == *words && words_at(text, sentence, words, ret_after);
}

const struct cue *cue_at(const char *text, struct span sentence, const char **ret_after)
{
	for (size_t i = 0; i < ARRAY_LEN(CUES_BEFORE); i++)
		if (is_at(CUES_BEFORE[i].words, text, sentence, ret_after) &&
		    stands_right(&CUES_BEFORE[i], text, *ret_after, sentence))
			return &CUES_BEFORE[i];
	return NULL;
}

bool cue_after_at(const char *text, struct span sentence, const char **ret_after)
{
	for (size_t i = 0; i < ARRAY_LEN(CUES_AFTER); i++)
		if (is_at(CUES_AFTER[i], text, sentence, ret_after))
			return true;
	return false;
}
