#include "ingest/paper_id.h"

#include "base/base.h"
#include "engine/lexical/builder.h"
#include "product/paper_source.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

_Static_assert(PAPER_ID_MAX <= DOCUMENT_MAX_ID, "a paper that is stored can be indexed");

#define DIGITS "0123456789"

/* `v` and a number, or empty. */
static bool is_version(const char *text)
{
	if (!*text)
		return true;
	size_t digits = strspn(text + 1, DIGITS);
	return *text == 'v' && digits > 0 && digits <= 3 && text[1] != '0' && !text[1 + digits];
}

static bool parse_new(const char *text, char out[PAPER_ID_MAX + 1])
{
	size_t number = strlen(text) > 5 && text[4] == '.' ? strspn(text + 5, DIGITS) : 0;
	if (strspn(text, DIGITS) != 4 || number < 4 || number > 5 || !is_version(text + 5 + number))
		return false;
	snprintf(out, PAPER_ID_MAX + 1, "%.*s", (int)(5 + number), text);
	return true;
}

static bool parse_old(const char *text, char out[PAPER_ID_MAX + 1])
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
	snprintf(out, PAPER_ID_MAX + 1, "%.*s/%.7s", (int)archive, text, slash + 1);
	return true;
}

/* Length of `10.1101/2026.11.20.123456` at the start of `text`; 0: there is no such DOI. */
static size_t doi_length(const char *text)
{
	if (strncmp(text, "10.", 3) != 0)
		return 0;
	size_t registrant = strspn(text + 3, DIGITS), at = 3 + registrant + 1;
	if (registrant < 4 || registrant > 9 || text[at - 1] != '/')
		return 0;
	for (;;) {
		size_t digits = strspn(text + at, DIGITS);
		if (digits == 0)
			return 0;
		at += digits;
		if (text[at] != '.')
			return at;
		at++;
	}
}

static bool parse_doi(const char *text, char out[PAPER_ID_MAX + 1])
{
	static const char *const SOURCES[] = {PAPER_SOURCES_BUT_ARXIV(PAPER_SOURCE_NAME)};
	for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++) {
		size_t name = strlen(SOURCES[i]);
		if (strncasecmp(text, SOURCES[i], name) != 0 || text[name] != ':')
			continue;
		const char *doi = text + name + 1;
		size_t length = doi_length(doi);
		if (length == 0 || name + 1 + length > PAPER_ID_MAX || !is_version(doi + length))
			return false;
		snprintf(out, PAPER_ID_MAX + 1, "%s:%.*s", SOURCES[i], (int)length, doi);
		return true;
	}
	return false;
}

bool category_is(const char *text)
{
	static const char LETTERS[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "._-";
	size_t length = strspn(text, LETTERS);
	return length > 0 && length <= CATEGORY_MAX && !text[length];
}

bool paper_id_parse(const char *text, char out[PAPER_ID_MAX + 1])
{
	if (parse_doi(text, out))
		return true;
	if (strncasecmp(text, "arxiv:", 6) == 0)
		text += 6;
	return parse_new(text, out) || parse_old(text, out);
}
