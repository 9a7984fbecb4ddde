#include "program/text.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define ELLIPSIS "\u2026"

/* Inclusive ranges in ascending order, of Unicode's EastAsianWidth (W, F) and of its categories Mn,
 * Me and Cf, as in M. Kuhn's wcwidth(): https://www.cl.cam.ac.uk/~mgk25/ucs/wcwidth.c */
static const struct range {
	uint32_t first, last;
	size_t width;
} RANGES[] = {
	{0x0300, 0x036f, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05bd, 0},   {0x0610, 0x061a, 0},
	{0x064b, 0x065f, 0},   {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},
	{0x200b, 0x200d, 0},   {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},
	{0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},
	{0xfe30, 0xfe6f, 2},   {0xfeff, 0xfeff, 0},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},
	{0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
	{0xe0000, 0xe01ef, 0},
};

/* The columns of the character at `text`, and its bytes. */
static size_t character_width(const char *text, size_t length, size_t *ret_size)
{
	size_t size = utf8_sequence(text, length);
	*ret_size = MAX_OF(size, 1);
	uint32_t code = size > 0 ? utf8_code_point(text, size) : 0;
	for (size_t i = 0; i < ARRAY_LEN(RANGES) && code >= RANGES[i].first; i++)
		if (code <= RANGES[i].last)
			return RANGES[i].width;
	return 1;
}

/* The bytes of the longest prefix of at most `columns`. */
static size_t prefix_bytes(const char *text, size_t length, size_t columns)
{
	size_t at = 0, size;
	while (at < length) {
		size_t width = character_width(text + at, length - at, &size);
		if (width > columns)
			break;
		columns -= width;
		at += size;
	}
	return at;
}

size_t text_width(const char *text)
{
	size_t length = strlen(text), width = 0, size;
	for (size_t at = 0; at < length; at += size)
		width += character_width(text + at, length - at, &size);
	return width;
}

const char *text_cut(struct arena *arena, const char *text, size_t columns)
{
	size_t length = strlen(text);
	if (prefix_bytes(text, length, columns) == length)
		return text;
	size_t kept = prefix_bytes(text, length, columns > 0 ? columns - 1 : 0);
	return arena_printf(arena, "%.*s%s", (int)kept, text, columns > 0 ? ELLIPSIS : "");
}

/* The bytes of the next line: to the last space that fits, or to where a word must be broken. */
static size_t line_bytes(const char *text, size_t columns)
{
	size_t length = strlen(text), fits = prefix_bytes(text, length, columns), size;
	if (fits == length)
		return fits;
	if (fits == 0)
		character_width(text, length, &fits);
	for (size = fits; size > 0 && text[size] != ' '; size--)
		;
	return size > 0 ? size : fits;
}

const char *text_wrap(struct arena *arena, const char *text, size_t indent, size_t columns)
{
	if (columns == 0)
		return text;
	size_t room = columns > indent + 1 ? columns - indent : 1;
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	while (*text) {
		size_t bytes = line_bytes(text, room);
		if (out.length > 0)
			buf_printf(&out, "\n%*s", (int)indent, "");
		buf_add(&out, text, bytes);
		text += bytes;
		text += strspn(text, " ");
	}
	return out.data;
}
