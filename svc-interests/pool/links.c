#include "pool/links.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define ID_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-"
#define ID_MIN   9  /* 0704.0001 */
#define ID_MAX   30 /* an old one with its archive, class and version */

/* What stands before an id. */
static const char *const MARKS[] = {
	"arxiv.org/abs/",
	"arxiv.org/pdf/",
	"arxiv.org/html/",
	"arxiv:",
};

/* The first mark in `text`; where the id behind it starts. */
static const char *next_id(const char *text)
{
	for (; *text; text++)
		for (size_t i = 0; i < ARRAY_LEN(MARKS); i++)
			if (strncasecmp(text, MARKS[i], strlen(MARKS[i])) == 0)
				return text + strlen(MARKS[i]);
	return NULL;
}

/* Length of the id at `text`, without what a sentence or a file name puts behind it; 0: none. */
static size_t id_length(const char *text)
{
	size_t length = strspn(text, ID_CHARS);
	while (length && strchr("./-", text[length - 1]))
		length--;
	if (length > 4 && strncasecmp(text + length - 4, ".pdf", 4) == 0)
		length -= 4;
	return length >= ID_MIN && length <= ID_MAX ? length : 0;
}

static bool is_named(const struct buf *out, const char *quoted)
{
	return out->data && strstr(out->data, quoted);
}

const char *links_find(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	size_t count = 0;
	while (count < LINKS_MAX && (text = next_id(text))) {
		size_t length = id_length(text);
		const char *quoted = arena_printf(arena, "\"%.*s\"", (int)length, text);
		if (length && !is_named(&out, quoted)) {
			buf_printf(&out, "%s%s", count ? ", " : "[", quoted);
			count++;
		}
		text += length;
	}
	buf_puts(&out, count ? "]" : "");
	return count ? out.data : NULL;
}
