#include "base/outside_text.h"

#include "base/base.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BREAK   "\xe2\x80\x8b" /* U+200B */
#define DIGIT   "0123456789"
#define LETTER  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define BETWEEN " \t\r\n-_"

/* A break comes between `before`, in any case, and one of the characters of `after`. */
static const struct {
	const char *before, *after;
	bool is_whole; /* only where a word begins: `a@b` mentions nobody */
} RULES[] = {
	{"@", LETTER DIGIT, true},
	{"#", DIGIT, false},
	{"gh-", DIGIT, true},
	{"/issues/", LETTER DIGIT, false},
	{"/pull/", LETTER DIGIT, false},
	{"/pulls/", LETTER DIGIT, false},
	{"/discussions/", LETTER DIGIT, false},
	{"/commit/", LETTER DIGIT, false},
	{"[skip", BETWEEN, false},
	{"[ci", BETWEEN, false},
	{"[no", BETWEEN, false},
	{"[actions", BETWEEN, false},
	{"skip", "]", false},
	{"skip-che", "cC", false},
	{"no_c", "iI", false},
	{"&", "#" LETTER, false},
	{"<", LETTER "/!?", false},
	{"!", "[", false},
	{"]", "([", false},
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool outside_text_is_kept_apart(const char *text, size_t length, char next)
{
	for (size_t i = 0; next && i < ARRAY_LEN(RULES); i++) {
		size_t before = strlen(RULES[i].before);
		if (before > length || !strchr(RULES[i].after, next) ||
		    strncasecmp(text + length - before, RULES[i].before, before) != 0)
			continue;
		if (!RULES[i].is_whole || before == length || !is_word(text[length - before - 1]))
			return true;
	}
	return false;
}

const char *outside_text(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	size_t start = 0, at;
	if (!text)
		return NULL;
	for (at = 0; text[at]; at++) {
		if (!outside_text_is_kept_apart(text, at, text[at]))
			continue;
		buf_add(&out, text + start, at - start);
		buf_puts(&out, BREAK);
		start = at;
	}
	buf_add(&out, text + start, at - start);
	return out.data ? out.data : "";
}
