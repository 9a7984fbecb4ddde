#include "json/csv.h"

#include <string.h>

static bool is_one_of(char c, const char *list)
{
	return c && strchr(list, c);
}

/* A reader for whom `;` or a tab separates cells finds beginnings of cells inside the quotes, too.
 */
static void add_text(struct buf *out, const char *text, size_t length)
{
	bool is_at_begin = length > 0 && !is_one_of(text[0], " \"");
	buf_puts(out, length > 0 && is_one_of(text[0], "\t\r") ? "\"'" : "\"");
	for (size_t i = 0; i < length; i++) {
		if (is_at_begin && is_one_of(text[i], "=+-@"))
			buf_puts(out, "'");
		if (is_one_of(text[i], ";\t\r\n"))
			is_at_begin = true;
		else if (!is_one_of(text[i], " \""))
			is_at_begin = false;
		if (text[i] == '"')
			buf_puts(out, "\"");
		buf_add(out, &text[i], 1);
	}
	buf_puts(out, "\"");
}

/* The texts of an array as one cell. */
static void add_list(struct buf *out, yyjson_val *list)
{
	struct buf joined = {.arena = out->arena};
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (list, index, count, item) {
		if (index > 0)
			buf_puts(&joined, "; ");
		if (yyjson_is_str(item))
			buf_add(&joined, yyjson_get_str(item), yyjson_get_len(item));
		else
			buf_puts(&joined, json_write(out->arena, item, NULL));
	}
	if (joined.length)
		add_text(out, joined.data, joined.length);
}

void csv_cell(struct buf *out, yyjson_val *value, bool is_first)
{
	if (!is_first)
		buf_puts(out, ",");
	if (!value || yyjson_is_null(value))
		return;
	if (yyjson_is_str(value))
		add_text(out, yyjson_get_str(value), yyjson_get_len(value));
	else if (yyjson_is_real(value))
		buf_printf(out, "%.17g", yyjson_get_real(value));
	else if (yyjson_is_arr(value))
		add_list(out, value);
	else if (yyjson_is_obj(value)) {
		size_t length;
		const char *text = json_write(out->arena, value, &length);
		add_text(out, text, length);
	} else
		buf_puts(out, json_write(out->arena, value, NULL));
}

void csv_text(struct buf *out, const char *text, bool is_first)
{
	static const char PLAIN[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	size_t length = strlen(text);
	if (!is_first)
		buf_puts(out, ",");
	if (strspn(text, PLAIN) == length)
		buf_add(out, text, length);
	else
		add_text(out, text, length);
}

void csv_line_end(struct buf *out)
{
	buf_puts(out, "\r\n");
}
