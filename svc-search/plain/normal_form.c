#include "plain/normal_form.h"

#include "base/base.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* In UTF-8 the first character that normal form C can change, U+0300, begins with this byte. */
#define FIRST_CHANGED 0xCC

static bool is_ascii_or_latin(const char *text, size_t length)
{
	unsigned char highest = 0;
	for (size_t i = 0; i < length; i++)
		highest = MAX_OF(highest, (unsigned char)text[i]);
	return highest < FIRST_CHANGED;
}

/* A dash or quotation mark, U+2010 to U+201F. */
static bool is_punctuation(const char *at, const char *end)
{
	return end - at >= 3 && memcmp(at, "\xE2\x80", 2) == 0 && (at[2] & 0xF0) == 0x90;
}

/* Whether normal form C keeps all characters as they are; false may be wrong. */
static bool is_composed(const char *text, size_t length)
{
	const char *at = text, *end = text + length;
	if (is_ascii_or_latin(text, length))
		return true;
	while (at < end && (is_punctuation(at, end) || (unsigned char)*at < FIRST_CHANGED))
		at += is_punctuation(at, end) ? 3 : 1;
	return at == end;
}

const char *normal_form(struct arena *arena, const char *text, size_t length)
{
	utf8proc_uint8_t *composed = NULL;
	if (is_composed(text, length))
		return text;
	utf8proc_ssize_t size =
		utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, &composed,
	                     UTF8PROC_STABLE | UTF8PROC_COMPOSE);
	if (size >= 0)
		text = arena_strndup(arena, (const char *)composed, (size_t)size);
	free(composed);
	return text;
}
