#include "markdown.h"

#include <string.h>

#define FENCE_MIN 3

bool markdown_is_known(const char *text)
{
	return text && text[strspn(text, " \t\r\n")];
}

/* Without white space at both ends. */
static void add_trimmed(struct buf *out, const char *text)
{
	text += strspn(text, " \t\r\n");
	size_t length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	buf_add(out, text, length);
}

void markdown_line(struct buf *out, const char *text)
{
	const char *at = text + strspn(text, " \t\r\n");
	while (*at) {
		size_t word = strcspn(at, " \t\r\n");
		buf_add(out, at, word);
		at += word;
		at += strspn(at, " \t\r\n");
		if (*at)
			buf_puts(out, " ");
	}
}

/* The longest run of backticks: what holds the text needs one more (CommonMark 0.31, sections 4.5
 * and 6.1). */
static size_t longest_ticks(const char *text)
{
	size_t longest = 0;
	for (const char *at = strchr(text, '`'); at; at = strchr(at, '`')) {
		size_t run = strspn(at, "`");
		longest = run > longest ? run : longest;
		at += run;
	}
	return longest;
}

static void add_ticks(struct buf *out, size_t count)
{
	while (count--)
		buf_puts(out, "`");
}

void markdown_code(struct buf *out, const char *text)
{
	size_t ticks = longest_ticks(text);
	add_ticks(out, ticks + 1);
	if (ticks)
		buf_puts(out, " ");
	markdown_line(out, text);
	if (ticks)
		buf_puts(out, " ");
	add_ticks(out, ticks + 1);
}

void markdown_fenced(struct buf *out, const char *language, const char *text)
{
	size_t ticks = longest_ticks(text) + 1;
	ticks = ticks < FENCE_MIN ? FENCE_MIN : ticks;
	add_ticks(out, ticks);
	buf_printf(out, "%s\n", language);
	add_trimmed(out, text);
	buf_puts(out, "\n");
	add_ticks(out, ticks);
	buf_puts(out, "\n");
}

void markdown_quoted(struct buf *out, const char *text)
{
	text += strspn(text, " \t\r\n");
	while (markdown_is_known(text)) {
		size_t line = strcspn(text, "\r\n");
		size_t shown = line;
		while (shown && strchr(" \t", text[shown - 1]))
			shown--;
		buf_puts(out, shown ? "> " : ">");
		buf_add(out, text, shown);
		buf_puts(out, "\n");
		text += line;
		text += *text == '\r' && text[1] == '\n' ? 2 : *text != '\0';
	}
}

void markdown_heading(struct buf *out, const char *heading)
{
	buf_printf(out, "\n## %s\n\n", heading);
}

void markdown_item(struct buf *out, const char *label, const char *text, bool is_code)
{
	if (!markdown_is_known(text))
		return;
	buf_printf(out, "- %s: ", label);
	if (is_code)
		markdown_code(out, text);
	else
		markdown_line(out, text);
	buf_puts(out, "\n");
}
