#include "source/arxiv_links.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define ID_CHARS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-"
#define ID_MIN       9  /* 0704.0001 */
#define ID_MAX       30 /* an old id with archive, subject class and version */
#define ID_CHARS_MAX 64 /* an id with the punctuation and ".pdf" at its end */

/* An id follows one of these. */
static const char *const PREFIXES[] = {
	"arxiv.org/abs/",
	"arxiv.org/pdf/",
	"arxiv.org/html/",
	"arxiv:",
};

/* Whether `at` is inside a name, such as `notarxiv.org`. */
static bool is_inside_name(const char *text, const char *at)
{
	return at > text && (isalnum((unsigned char)at[-1]) || strchr("-_", at[-1]));
}

/* The start of the next id in `text` from `at` on, after its prefix; NULL: none. */
static const char *next_id(const char *text, const char *at)
{
	for (; *at; at++)
		for (size_t i = 0; i < ARRAY_LEN(PREFIXES); i++)
			if (strncasecmp(at, PREFIXES[i], strlen(PREFIXES[i])) == 0 &&
			    !is_inside_name(text, at))
				return at + strlen(PREFIXES[i]);
	return NULL;
}

/* Length of the id at `text`, without punctuation and ".pdf" at its end; 0: no id. It reads only so
 * far as an id can reach: the next one may begin behind each of its characters. */
static size_t id_length(const char *text)
{
	size_t length = 0;
	while (length < ID_CHARS_MAX && text[length] && strchr(ID_CHARS, text[length]))
		length++;
	while (length && strchr("./-", text[length - 1]))
		length--;
	if (length > 4 && strncasecmp(text + length - 4, ".pdf", 4) == 0)
		length -= 4;
	return length >= ID_MIN && length <= ID_MAX ? length : 0;
}

static bool is_listed(const struct buf *out, const char *quoted)
{
	return out->data && strstr(out->data, quoted);
}

const char *arxiv_links_find(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	size_t count = 0;
	const char *at = text;
	while (count < ARXIV_LINKS_MAX && (at = next_id(text, at))) {
		size_t length = id_length(at);
		const char *quoted = arena_printf(arena, "\"%.*s\"", (int)length, at);
		if (length && !is_listed(&out, quoted)) {
			buf_printf(&out, "%s%s", count ? ", " : "[", quoted);
			count++;
		}
		at += length;
	}
	buf_puts(&out, count ? "]" : "");
	return count ? out.data : NULL;
}
