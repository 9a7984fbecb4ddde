#include "mcp/clean_text.h"

#include "base/base.h"
#include "base/outside_text.h"
#include "base/utf8.h"

#include <stdbool.h>

#define FIRST_JOINED 0x590          /* Hebrew, before Arabic and the scripts of India */
#define BREAK        "\xe2\x80\x8b" /* U+200B */

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

/* The length of the sequence at `text` and its character, U+0000 where a byte begins none. */
static size_t next(const char *text, size_t length, uint32_t *ret_point)
{
	size_t sequence = utf8_sequence(text, length);
	*ret_point = sequence ? utf8_code_point(text, sequence) : 0;
	return sequence ? sequence : 1;
}

static bool is_joined(uint32_t point)
{
	return point >= FIRST_JOINED && !is_removed(point);
}

/* Whether `point`, which stands between `before` and the rest, joins or separates two letters. */
static bool is_joiner(uint32_t point, uint32_t before, const char *rest, size_t length)
{
	uint32_t after = 0;
	if ((point != 0x200c && point != 0x200d) || !is_joined(before))
		return false;
	if (length)
		next(rest, length, &after);
	return is_joined(after);
}

/* The bytes at `text` that are removed, from its first character on. */
static size_t removed_length(const char *text, size_t length)
{
	size_t at = 0;
	while (at < length) {
		uint32_t point;
		size_t step = next(text + at, length - at, &point);
		if (!is_removed(point))
			break;
		at += step;
	}
	return at;
}

const char *clean_text(struct arena *arena, const char *text, size_t length, size_t *ret_length)
{
	struct buf out = {.arena = arena};
	size_t kept = 0; /* the start of what is not yet copied */
	uint32_t before = 0, point;
	bool is_changed = false;
	for (size_t at = 0; at < length;) {
		if (is_plain(text[at])) {
			before = (unsigned char)text[at++];
			continue;
		}
		size_t step = next(text + at, length - at, &point);
		if (is_removed(point) &&
		    !is_joiner(point, before, text + at + step, length - at - step)) {
			step = removed_length(text + at, length - at);
			buf_add(&out, text + kept, at - kept);
			kept = at + step;
			is_changed = true;
			if (kept < length &&
			    outside_text_is_kept_apart(out.data, out.length, text[kept]))
				buf_puts(&out, BREAK);
		}
		before = point;
		at += step;
	}
	if (!is_changed) {
		*ret_length = length;
		return text;
	}
	buf_add(&out, text + kept, length - kept);
	*ret_length = out.length;
	return out.data;
}
