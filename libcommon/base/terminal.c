#include "base/terminal.h"

#include "base/base.h"
#include "base/utf8.h"

#include <string.h>

#define DELETE 0x7f

/* Inclusive ranges, in ascending order. */
static const struct range {
	uint32_t first, last;
} OBEYED[] = {
	{0x00, 0x1f},     {DELETE, 0x9f},   {0x061c, 0x061c},
	{0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
};

bool terminal_obeys(const char *sequence, size_t size, uint32_t *ret_code)
{
	uint32_t code = *ret_code = utf8_code_point(sequence, size);
	for (size_t i = 0; i < ARRAY_LEN(OBEYED); i++)
		if (code <= OBEYED[i].last)
			return code >= OBEYED[i].first;
	return false;
}

static void escape(struct buf *out, uint32_t code)
{
	static const char *const SHORT[0x20] = {
		['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
	};
	if (code < ARRAY_LEN(SHORT) && SHORT[code])
		buf_puts(out, SHORT[code]);
	else
		buf_printf(out, "\\u%04x", (unsigned)code);
}

static void add(struct buf *out, const char *text, size_t length, bool keeps_lines)
{
	uint32_t code;
	while (length > 0) {
		size_t size = utf8_sequence(text, length);
		bool is_kept = keeps_lines && (*text == '\n' || *text == '\t');
		if (size == 0)
			buf_printf(out, "\\x%02x", (unsigned char)*text);
		else if (terminal_obeys(text, size, &code) && !is_kept)
			escape(out, code);
		else
			buf_add(out, text, size);
		size = MAX_OF(size, 1);
		text += size;
		length -= size;
	}
}

void terminal_print(FILE *out, const char *text, size_t length)
{
	if (length == 0)
		return;
	struct arena *arena = arena_new();
	struct buf shown = {.arena = arena};
	add(&shown, text, length, true);
	fwrite(shown.data, 1, shown.length, out);
	arena_free(arena);
}

const char *terminal_text(struct arena *arena, const char *text)
{
	struct buf shown = {.arena = arena};
	buf_puts(&shown, "");
	add(&shown, text ? text : "", text ? strlen(text) : 0, false);
	return shown.data;
}
