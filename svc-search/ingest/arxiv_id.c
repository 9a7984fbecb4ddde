#include "ingest/arxiv_id.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DIGITS "0123456789"

/* `v` and a number, or empty. */
static bool is_version(const char *text)
{
	if (!*text)
		return true;
	size_t digits = strspn(text + 1, DIGITS);
	return *text == 'v' && digits > 0 && digits <= 3 && text[1] != '0' && !text[1 + digits];
}

static bool parse_new(const char *text, char out[ARXIV_ID_MAX + 1])
{
	size_t number = strlen(text) > 5 && text[4] == '.' ? strspn(text + 5, DIGITS) : 0;
	if (strspn(text, DIGITS) != 4 || number < 4 || number > 5 || !is_version(text + 5 + number))
		return false;
	snprintf(out, ARXIV_ID_MAX + 1, "%.*s", (int)(5 + number), text);
	return true;
}

static bool parse_old(const char *text, char out[ARXIV_ID_MAX + 1])
{
	static const char ARCHIVE[] = "abcdefghijklmnopqrstuvwxyz-";
	static const char CLASS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *slash = strchr(text, '/');
	size_t archive = strspn(text, ARCHIVE);
	if (!slash || archive == 0 || archive > 16 || *text == '-')
		return false;
	const char *class = text + archive;
	if (class != slash &&
	    !(*class == '.' && strspn(class + 1, CLASS) == 2 && class + 3 == slash))
		return false;
	if (strspn(slash + 1, DIGITS) != 7 || !is_version(slash + 8))
		return false;
	snprintf(out, ARXIV_ID_MAX + 1, "%.*s/%.7s", (int)archive, text, slash + 1);
	return true;
}

bool arxiv_category_is(const char *text)
{
	static const char LETTERS[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "._-";
	size_t length = strspn(text, LETTERS);
	return length > 0 && length <= ARXIV_CATEGORY_MAX && !text[length];
}

bool arxiv_id_parse(const char *text, char out[ARXIV_ID_MAX + 1])
{
	if (strncasecmp(text, "arxiv:", 6) == 0)
		text += 6;
	return parse_new(text, out) || parse_old(text, out);
}
