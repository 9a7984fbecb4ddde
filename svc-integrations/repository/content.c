#include "repository/content.h"

#include "base/utf8.h"
#include "crypto/crypto.h"
#include "json/json.h"

#include <string.h>

const char *content_bytes(struct request *rq, yyjson_val *file, size_t *ret_length)
{
	const char *type = json_get_text(file, "type");
	const char *encoding = json_get_text(file, "encoding");
	const char *content = json_get_text(file, "content");
	if (!type || !encoding || !content || strcmp(type, "file") != 0 ||
	    strcmp(encoding, "base64") != 0)
		return NULL;
	/* The code host breaks the base64 into lines. */
	char *packed = arena_alloc(rq->arena, strlen(content) + 1);
	size_t length = 0;
	for (const char *at = content; *at; at++)
		if (*at != '\n')
			packed[length++] = *at;
	return base64_decode(rq->arena, packed, length, ret_length);
}

const char *content_text(struct request *rq, yyjson_val *file, size_t max, bool *ret_is_cut)
{
	size_t length;
	const char *bytes = content_bytes(rq, file, &length);
	if (!bytes)
		return NULL;
	if (ret_is_cut)
		*ret_is_cut = length > max;
	struct buf text = {.arena = rq->arena};
	buf_puts(&text, "");
	utf8_repair(&text, bytes, utf8_cut(bytes, length, max));
	return text.data;
}
