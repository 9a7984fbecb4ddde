#include "service/etag.h"

#include "service/input.h"
#include "service/reply.h"

#include <string.h>
#include <strings.h>

#define VERSION_DIGITS_MAX 18 /* always fits a bigint */

/* Whether the text is a version as etag_reply() writes it: no sign, no leading zero. */
static bool is_version(const char *text, size_t length)
{
	return length > 0 && length <= VERSION_DIGITS_MAX && text[0] != '0' &&
	       strspn(text, "0123456789") >= length;
}

/* The length of the version in `5` or `5-gzip`: reply_send() marks the tag of a compressed reply. */
static size_t version_length(const char *tag, size_t length)
{
	static const char GZIP[] = "-gzip";
	const size_t suffix = sizeof(GZIP) - 1;
	bool is_gzip = length > suffix && memcmp(tag + length - suffix, GZIP, suffix) == 0;
	return is_gzip ? length - suffix : length;
}

const char *etag_versions(struct arena *arena, const char *if_match)
{
	const char *at = if_match + strspn(if_match, " \t");
	if (*at == '*' && at[1 + strspn(at + 1, " \t")] == '\0')
		return NULL;
	struct buf list = {.arena = arena};
	buf_puts(&list, "{");
	while (*at) {
		bool is_weak = strncmp(at, "W/\"", 3) == 0;
		const char *tag = at + (is_weak ? 2 : 0);
		const char *end = *tag == '"' ? strchr(tag + 1, '"') : NULL;
		size_t length = end ? version_length(tag + 1, (size_t)(end - tag - 1)) : 0;
		if (!is_weak && is_version(tag + 1, length))
			buf_printf(&list, "%s%.*s", list.length > 1 ? "," : "", (int)length,
			           tag + 1);
		at = end ? end + 1 : at;
		at += strcspn(at, ",");
		at += strspn(at, ", \t");
	}
	buf_puts(&list, "}");
	return list.data;
}

const char *etag_if_match(struct request *rq)
{
	const struct http_head *head = &rq->http->head;
	struct buf all = {.arena = rq->arena};
	if (http_head_count(head, "If-Match") == 0)
		return NULL;
	for (size_t i = 0; i < head->field_count; i++)
		if (strcasecmp(head->fields[i].name, "If-Match") == 0)
			buf_printf(&all, "%s%s", all.length ? ", " : "", head->fields[i].value);
	return etag_versions(rq->arena, all.data ? all.data : "");
}

void etag_reply(struct request *rq, const char *version)
{
	reply_header(rq, "ETag", "\"%s\"", version);
}
