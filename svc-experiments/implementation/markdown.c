#include "implementation/markdown.h"

#include "base/base.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define FENCE_MIN  3
#define LEVEL_MIN  3 /* of a heading inside a text */
#define LEVEL_MAX  6
#define INDENT_MAX 3 /* a line that is indented further is code */

bool markdown_has_text(const char *text)
{
	return text && text[strspn(text, " \t\r\n")];
}

/* Add the text without white space at both ends. */
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

/* The longest run of backticks. A code span or fence around the text needs one more (CommonMark
 * 0.31, sections 4.5 and 6.1). */
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
	while (markdown_has_text(text)) {
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
	if (!markdown_has_text(text))
		return;
	buf_printf(out, "- %s: ", label);
	if (is_code)
		markdown_code(out, text);
	else
		markdown_line(out, text);
	buf_puts(out, "\n");
}

/* Blocks of raw HTML that do not end at a blank line, but at `end` (CommonMark 0.31, section 4.6,
 * kinds 1 to 5). */
static const struct {
	const char *start, *end;
} RAW[] = {
	{"<!--", "-->"},
	{"<script", "</script>"},
	{"<pre", "</pre>"},
	{"<style", "</style>"},
	{"<textarea", "</textarea>"},
	{"<![CDATA[", "]]>"},
	{"<?", "?>"},
	{"<!", ">"},
};

/* A line of a text, without its end. */
struct line {
	const char *text;
	size_t length;
	size_t indent; /* columns of white space at the start; a tab counts as 4 */
};

/* The blocks that are open after the lines read so far. */
struct open_blocks {
	char fence; /* ` or ~; 0: none is open */
	size_t fence_length, fence_indent;
	const char *raw_end; /* the text that ends the raw HTML; NULL: none is open */
};

/* Read the line at `*at` and advance to the next one. Returns false at the end of the text. */
static bool next_line(const char **at, struct line *line)
{
	if (!**at)
		return false;
	*line = (struct line){.text = *at, .length = strcspn(*at, "\r\n")};
	*at += line->length;
	*at += **at == '\r' && (*at)[1] == '\n' ? 2 : **at != '\0';
	size_t i = 0;
	for (; i < line->length && strchr(" \t", line->text[i]); i++)
		line->indent += line->text[i] == '\t' ? 4 : 1;
	return true;
}

static const char *content_of(const struct line *line)
{
	return line->text + strspn(line->text, " \t");
}

static bool is_blank(const struct line *line)
{
	return content_of(line) >= line->text + line->length;
}

static size_t run_of(const char *text, char c)
{
	size_t length = 0;
	while (text[length] == c)
		length++;
	return length;
}

/* Length of the fence that the line starts with; 0: the line is not a fence. */
static size_t fence_of(const struct line *line)
{
	const char *content = content_of(line);
	size_t length = *content == '`' || *content == '~' ? run_of(content, *content) : 0;
	if (length < 3)
		return 0;
	const char *end = line->text + line->length;
	bool has_tick = memchr(content + length, '`', (size_t)(end - content) - length) != NULL;
	return *content == '`' && has_tick ? 0 : length;
}

static bool is_bare_fence(const struct line *line, size_t length)
{
	const char *end = content_of(line) + length;
	return end + strspn(end, " \t") >= line->text + line->length;
}

static bool contains(const char *text, const char *end, const char *part)
{
	size_t length = strlen(part);
	for (; text + length <= end; text++)
		if (strncasecmp(text, part, length) == 0)
			return true;
	return false;
}

/* Whether the content begins with the start of raw HTML. The name of a tag must end there: `<pre>`,
 * not `<prefix>`. */
static bool begins_raw(const char *content, const char *start)
{
	size_t length = strlen(start);
	return strncasecmp(content, start, length) == 0 &&
	       !(isalpha((unsigned char)start[length - 1]) &&
	         isalnum((unsigned char)content[length]));
}

/* Update the open blocks with a line. Returns false when the line ends the block that contains the
 * open fence, such as a list item: then it is not known which blocks are open. */
static bool read_line(struct open_blocks *open, const struct line *line)
{
	const char *content = content_of(line), *end = line->text + line->length;
	size_t fence = fence_of(line);
	if (open->fence) {
		if (!is_blank(line) && line->indent < open->fence_indent)
			return false;
		if (fence >= open->fence_length && *content == open->fence &&
		    is_bare_fence(line, fence))
			open->fence = 0;
		return true;
	}
	for (size_t i = 0; !open->raw_end && i < ARRAY_LEN(RAW); i++)
		if (begins_raw(content, RAW[i].start)) {
			open->raw_end = RAW[i].end;
			content += strlen(RAW[i].start);
		}
	if (open->raw_end) {
		if (contains(content, end, open->raw_end))
			open->raw_end = NULL;
		return true;
	}
	if (fence) {
		open->fence = *content;
		open->fence_length = fence;
		open->fence_indent = line->indent;
	}
	return true;
}

static bool has_open_block(const struct open_blocks *open)
{
	return open->fence || open->raw_end;
}

/* Level of the line as an ATX heading; 0: it is not one. */
static size_t atx_level(const struct line *line)
{
	const char *content = content_of(line);
	size_t level = run_of(content, '#');
	if (level > LEVEL_MAX || line->indent > INDENT_MAX)
		return 0;
	return level && (content + level == line->text + line->length ||
	                 strchr(" \t", content[level]))
	               ? level
	               : 0;
}

/* Level of the setext heading that the line underlines; 0: it is not an underline. */
static size_t underline_level(const struct line *line)
{
	const char *content = content_of(line), *end = line->text + line->length;
	size_t run = *content == '=' || *content == '-' ? run_of(content, *content) : 0;
	if (!run || line->indent > INDENT_MAX || content + run + strspn(content + run, " \t") < end)
		return 0;
	return *content == '=' ? 1 : 2;
}

/* Whether the line can be the text of a setext heading: a paragraph, not a list item, quote or
 * heading. */
static bool is_paragraph(const struct line *line)
{
	const char *content = content_of(line);
	if (is_blank(line) || line->indent > INDENT_MAX || atx_level(line) || underline_level(line))
		return false;
	size_t digits = strspn(content, "0123456789");
	bool is_item = (strchr("-*+", *content) && content[1] == ' ') ||
	               (digits && (content[digits] == '.' || content[digits] == ')') &&
	                content[digits + 1] == ' ');
	return *content != '>' && !is_item;
}

/* Level of the heading that starts at `line`; 0: there is none. `rest` is the text after the line:
 * a setext heading has two lines. */
static size_t heading_level(const struct line *line, const char *rest, bool *ret_is_setext)
{
	struct line next;
	size_t level = atx_level(line);
	*ret_is_setext = false;
	if (level || !is_paragraph(line) || !next_line(&rest, &next))
		return level;
	level = underline_level(&next);
	*ret_is_setext = level != 0;
	return level;
}

/* Whether the text closes all blocks that it opens. Sets *ret_highest to the level of its highest
 * heading, or to LEVEL_MAX when it has none. */
static bool is_balanced(const char *text, size_t *ret_highest)
{
	struct open_blocks open = {0};
	struct line line;
	bool is_setext;
	*ret_highest = LEVEL_MAX;
	while (next_line(&text, &line)) {
		if (!read_line(&open, &line))
			return false;
		size_t level = has_open_block(&open) ? 0 : heading_level(&line, text, &is_setext);
		if (level)
			*ret_highest = MIN_OF(*ret_highest, level);
	}
	return !has_open_block(&open);
}

/* Add the heading as an ATX heading, `shift` levels lower. */
static void add_heading_line(struct buf *out, const struct line *line, size_t level, size_t shift,
                             bool is_setext)
{
	const char *content = content_of(line) + (is_setext ? 0 : level);
	for (size_t i = 0; i < MIN_OF(level + shift, (size_t)LEVEL_MAX); i++)
		buf_puts(out, "#");
	buf_puts(out, is_setext ? " " : "");
	buf_add(out, content, (size_t)(line->text + line->length - content));
	buf_puts(out, "\n");
}

void markdown_text(struct buf *out, const char *text)
{
	size_t highest;
	const char *trimmed = text + strspn(text, "\r\n");
	if (!is_balanced(trimmed, &highest)) {
		markdown_quoted(out, text);
		return;
	}
	size_t shift = highest < LEVEL_MIN ? LEVEL_MIN - highest : 0, end = out->length;
	struct open_blocks open = {0};
	struct line line;
	while (next_line(&trimmed, &line)) {
		bool was_inside = has_open_block(&open), is_setext = false;
		read_line(&open, &line);
		size_t level = was_inside || has_open_block(&open)
		                       ? 0
		                       : heading_level(&line, trimmed, &is_setext);
		if (level)
			add_heading_line(out, &line, level, shift, is_setext);
		else
			buf_printf(out, "%.*s\n", (int)line.length, line.text);
		if (is_setext)
			next_line(&trimmed, &line);
		end = is_blank(&line) ? end : out->length;
	}
	out->length = end;
	buf_puts(out, ""); /* terminate it there */
}
