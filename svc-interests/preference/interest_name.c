#include "preference/interest_name.h"

#include "base/base.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char SEPARATORS[] = " \t\r\n-_.,:;/#()[]'\"";

static const char DIGITS[] = "0123456789";

/* Words about a list of papers and its readers, and words between those. */
static const char *const LIST_WORDS[] = {
	"about",    "daily",  "default",  "demo",      "draft",   "example", "feed",    "first",
	"for",      "group",  "interest", "interests", "list",    "main",    "misc",    "monthly",
	"my",       "new",    "of",       "our",       "paper",   "papers",  "project", "reading",
	"research", "sample", "second",   "stuff",     "team",    "test",    "the",     "things",
	"todo",     "topic",  "topics",   "untitled",  "various", "watch",   "weekly",  "work",
};

/* Letters before the number of a quarter, a version or a week. */
static const char NUMBERED[] = "qQvVwW";

static bool is_list_word(const char *word, size_t length)
{
	for (size_t i = 0; i < ARRAY_LEN(LIST_WORDS); i++)
		if (strlen(LIST_WORDS[i]) == length &&
		    strncasecmp(LIST_WORDS[i], word, length) == 0)
			return true;
	return false;
}

static bool is_number(const char *word, size_t length)
{
	size_t letters = length > 1 && strchr(NUMBERED, word[0]) ? 1 : 0;
	return strspn(word + letters, DIGITS) >= length - letters;
}

static bool says_nothing(const char *word, size_t length)
{
	bool is_letter = length == 1 && (unsigned char)word[0] < 0x80;
	return is_letter || is_number(word, length) || is_list_word(word, length);
}

bool interest_name_is_label(const char *name)
{
	for (size_t length; *name; name += length) {
		name += strspn(name, SEPARATORS);
		length = strcspn(name, SEPARATORS);
		if (length > 0 && !says_nothing(name, length))
			return false;
	}
	return true;
}
