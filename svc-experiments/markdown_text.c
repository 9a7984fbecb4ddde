#include "base/base.h"
#include "markdown.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LEVEL_MIN  3 /* of a heading in a text */
#define LEVEL_MAX  6
#define INDENT_MAX 3 /* more is code */

/* Blocks of raw HTML that go on over blank lines, up to their end (CommonMark 0.31, section 4.6,
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
	size_t indent; /* spaces before anything else; a tab counts 4 */
};

/* What the lines so far have opened. */
struct open {
	char fence; /* ` or ~; 0: none is open */
	size_t fence_length, fence_indent;
	const char *raw_end; /* what ends the raw HTML; NULL: none is open */
};

/* The line at `*at`, which goes to the next one; false at the end. */
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

/* Length of the fence that the line is, or 0. */
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

/* Whether raw HTML begins so; a tag's name has to end there. */
static bool begins_raw(const char *content, const char *start)
{
	size_t length = strlen(start);
	return strncasecmp(content, start, length) == 0 &&
	       !(isalpha((unsigned char)start[length - 1]) &&
	         isalnum((unsigned char)content[length]));
}

/* Open what the line opens, close what it closes. False: it leaves the place that the open fence
 * is in, such as a list, and may close or open anything. */
static bool follow(struct open *open, const struct line *line)
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

static bool is_inside(const struct open *open)
{
	return open->fence || open->raw_end;
}

/* Level of the ATX heading that the line is, or 0. */
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

/* Level of the setext heading that the line is the underlining of, or 0. */
static size_t underline_level(const struct line *line)
{
	const char *content = content_of(line), *end = line->text + line->length;
	size_t run = *content == '=' || *content == '-' ? run_of(content, *content) : 0;
	if (!run || line->indent > INDENT_MAX || content + run + strspn(content + run, " \t") < end)
		return 0;
	return *content == '=' ? 1 : 2;
}

/* Whether a line can be underlined: a paragraph's, no list's, quote's or heading's. */
static bool is_prose(const struct line *line)
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

/* Level of the heading at `line`, of two lines where `*ret_is_setext`; 0: it is none. */
static size_t heading_level(const struct line *line, const char *rest, bool *ret_is_setext)
{
	struct line next;
	size_t level = atx_level(line);
	*ret_is_setext = false;
	if (level || !is_prose(line) || !next_line(&rest, &next))
		return level;
	level = underline_level(&next);
	*ret_is_setext = level != 0;
	return level;
}

/* Go over the text: whether all that it opens is closed, and the level of its highest heading. */
static bool survey(const char *text, size_t *ret_highest)
{
	struct open open = {0};
	struct line line;
	bool is_setext;
	*ret_highest = LEVEL_MAX;
	while (next_line(&text, &line)) {
		if (!follow(&open, &line))
			return false;
		size_t level = is_inside(&open) ? 0 : heading_level(&line, text, &is_setext);
		if (level)
			*ret_highest = MIN_OF(*ret_highest, level);
	}
	return !is_inside(&open);
}

/* The heading's text, its level lowered by `shift`. */
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
	if (!survey(trimmed, &highest)) {
		markdown_quoted(out, text);
		return;
	}
	size_t shift = highest < LEVEL_MIN ? LEVEL_MIN - highest : 0, end = out->length;
	struct open open = {0};
	struct line line;
	while (next_line(&trimmed, &line)) {
		bool was_inside = is_inside(&open), is_setext = false;
		follow(&open, &line);
		size_t level = was_inside || is_inside(&open)
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
	buf_puts(out, "");
}
