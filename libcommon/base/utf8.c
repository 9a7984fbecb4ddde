#include "base/utf8.h"

#include "base/base.h"

#include <string.h>

/* The well-formed sequences of RFC 3629 section 4: range of the first byte, length, range of the
 * second byte. */
static const struct {
	uint8_t first_low, first_high, length, second_low, second_high;
} RANGES[] = {
	{0x00, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
	{0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
	{0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

size_t utf8_sequence(const char *text, size_t length)
{
	const uint8_t *bytes = (const uint8_t *)text;
	if (length == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(RANGES); i++) {
		if (bytes[0] < RANGES[i].first_low || bytes[0] > RANGES[i].first_high)
			continue;
		size_t size = RANGES[i].length;
		if (size > length)
			return 0;
		if (size > 1 &&
		    (bytes[1] < RANGES[i].second_low || bytes[1] > RANGES[i].second_high))
			return 0;
		for (size_t k = 2; k < size; k++) {
			if ((bytes[k] & 0xC0) != 0x80)
				return 0;
		}
		return size;
	}
	return 0;
}

uint32_t utf8_code_point(const char *sequence, size_t size)
{
	static const unsigned char LEAD_MASK[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)sequence[0] & LEAD_MASK[size];
	for (size_t i = 1; i < size; i++)
		code = code << 6 | ((unsigned char)sequence[i] & 0x3f);
	return code;
}

bool utf8_is_valid(const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t size = utf8_sequence(text + at, length - at);
		if (size == 0)
			return false;
		at += size;
	}
	return true;
}

void utf8_repair(struct buf *out, const char *text, size_t length)
{
	size_t start = 0, at = 0;
	while (at < length) {
		size_t size = text[at] ? utf8_sequence(text + at, length - at) : 0;
		if (size == 0) {
			buf_add(out, text + start, at - start);
			buf_puts(out, UTF8_REPLACEMENT);
			start = at + 1;
		}
		at += MAX_OF(size, 1);
	}
	buf_add(out, text + start, length - start);
}

size_t utf8_count(const char *text, size_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < length; i++)
		count += ((uint8_t)text[i] & 0xC0) != 0x80;
	return count;
}

size_t utf8_cut(const char *text, size_t length, size_t max)
{
	if (length <= max)
		return length;
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

size_t utf8_cut_points(const char *text, size_t length, size_t max)
{
	size_t count = 0, at = 0;
	while (at < length) {
		count += ((uint8_t)text[at] & 0xC0) != 0x80;
		if (count > max)
			return at;
		at++;
	}
	return length;
}

const char *utf8_shorten(struct arena *arena, const char *text, size_t max)
{
	size_t length = strlen(text);
	return length <= max ? text
	                     : arena_printf(arena, "%.*s…", (int)utf8_cut(text, length, max), text);
}
