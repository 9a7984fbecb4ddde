#include "mcp/clean_text.h"

#include "base/base.h"
#include "base/outside_text.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define BREAK       "\xe2\x80\x8b" /* U+200B */
#define BREAK_POINT 0x200b

/* Ranges of code points, in ascending order. */
static const struct {
	uint32_t first, last;
} REMOVED[] = {
	{0x00, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},     {0x200b, 0x200f},
	{0x202a, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f},
};

static bool is_removed(uint32_t point)
{
	for (size_t i = 0; i < ARRAY_LEN(REMOVED) && REMOVED[i].first <= point; i++)
		if (point <= REMOVED[i].last)
			return true;
	return false;
}

/* A printable character of ASCII, as most are. */
static bool is_plain(char byte)
{
	return byte >= ' ' && byte <= '~';
}

/* Whether the space of no width at text[at] is one of outside_text(). */
static bool is_break(const char *text, size_t length, size_t at)
{
	size_t end = at + strlen(BREAK);
	return end < length && outside_text_has_break(text, at, text[end]);
}

/* The length of the sequence at text[at]; a byte that begins none counts as one, and is removed. */
static size_t next(const char *text, size_t length, size_t at, bool *ret_is_removed)
{
	size_t sequence = utf8_sequence(text + at, length - at);
	uint32_t point = sequence ? utf8_code_point(text + at, sequence) : 0;
	*ret_is_removed =
		is_removed(point) && !(point == BREAK_POINT && is_break(text, length, at));
	return sequence ? sequence : 1;
}

const char *clean_text(struct arena *arena, const char *text, size_t length, size_t *ret_length)
{
	struct buf out = {.arena = arena};
	size_t kept = 0; /* the start of what is not yet copied */
	for (size_t at = 0; at < length;) {
		bool removed;
		if (is_plain(text[at])) {
			at++;
			continue;
		}
		size_t step = next(text, length, at, &removed);
		if (removed) {
			buf_add(&out, text + kept, at - kept);
			kept = at + step;
		}
		at += step;
	}
	if (kept == 0) {
		*ret_length = length;
		return text;
	}
	buf_add(&out, text + kept, length - kept);
	*ret_length = out.length;
	return out.data;
}
