#include "interest/interest_name.h"

#include "base/base.h"
#include "crypto/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char SEPARATORS[] = " \t\r\n-_.,:;/#()[]{}<>|=&@+*`'\"";

static const char DIGITS[] = "0123456789", HEX_DIGITS[] = "0123456789abcdefABCDEF";

/* Hexadecimal digits of a word that is taken as an identifier. "bea2019" is a task. */
#define IDENTIFIER_DIGITS 8

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

/* The length of the identifier that `text` begins with, at a word of this length; 0: of none. */
static size_t identifier_length(const char *text, size_t word_length)
{
	struct uuid uuid;
	if (strlen(text) >= UUID_TEXT_LEN && uuid_parse(text, UUID_TEXT_LEN, &uuid))
		return UUID_TEXT_LEN;
	bool is_identifier = word_length >= IDENTIFIER_DIGITS &&
	                     strspn(text, HEX_DIGITS) >= word_length &&
	                     strcspn(text, DIGITS) < word_length;
	return is_identifier ? word_length : 0;
}

const char *interest_name_topic(struct arena *arena, const char *name)
{
	struct buf topic = {.arena = arena};
	bool is_label = true;
	while (*name) {
		size_t blank = strspn(name, SEPARATORS);
		size_t length = strcspn(name + blank, SEPARATORS);
		size_t identifier = identifier_length(name + blank, length);
		if (identifier == 0) {
			buf_add(&topic, name, blank + length);
			is_label = is_label && (length == 0 || says_nothing(name + blank, length));
		}
		name += blank + MAX_OF(length, identifier);
	}
	return is_label ? "" : topic.data;
}
