#include "service/etag.h"

#include "base/base.h"
#include "base/crypto.h"
#include "service/input.h"
#include "service/reply.h"

#include <string.h>
#include <strings.h>

#define VERSION_DIGITS_MAX 18          /* always fits a bigint */
#define TAG_BYTES          16          /* of the SHA-256 */
#define HASHED_MAX_BYTES   (256 << 10) /* hashing more would delay other requests */

/* The number of digits of a version as etag_reply() writes it: no sign, no leading zero, optionally a
 * hyphen and a hash. 0: it is none. */
static size_t version_digits(const char *text, size_t length)
{
	size_t digits = MIN_OF(strspn(text, "0123456789"), length);
	if (digits == 0 || digits > VERSION_DIGITS_MAX || text[0] == '0')
		return 0;
	if (digits == length)
		return digits;
	size_t hash = text[digits] == '-' ? strspn(text + digits + 1, "0123456789abcdef") : 0;
	return hash > 0 && digits + 1 + hash == length ? digits : 0;
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
		size_t digits = version_digits(tag + 1, length);
		if (digits && !is_weak)
			buf_printf(&list, "%s%.*s", list.length > 1 ? "," : "", (int)digits,
			           tag + 1);
		at = end ? end + 1 : at;
		at += strcspn(at, ",");
		at += strspn(at, ", \t");
	}
	buf_puts(&list, "}");
	return list.data;
}

/* The values of all fields of that name, as one list; NULL: there is none. */
static const char *field_list(struct request *rq, const char *name)
{
	const struct http_head *head = &rq->http->head;
	struct buf all = {.arena = rq->arena};
	for (size_t i = 0; i < head->field_count; i++)
		if (strcasecmp(head->fields[i].name, name) == 0)
			buf_printf(&all, "%s%s", all.length ? ", " : "", head->fields[i].value);
	return all.data;
}

const char *etag_if_match(struct request *rq)
{
	const char *list = field_list(rq, "If-Match");
	return list ? etag_versions(rq->arena, list) : NULL;
}

void etag_reply(struct request *rq, const char *version)
{
	reply_header(rq, "ETag", "\"%s\"", version);
}

const char *etag_of_content(struct arena *arena, const void *content, size_t length)
{
	uint8_t hash[SHA256_LEN];
	char hex[2 * TAG_BYTES + 1];
	sha256(content, length, hash);
	hex_encode(hash, TAG_BYTES, hex);
	return arena_printf(arena, "\"%s\"", hex);
}

bool etag_matches(const char *if_none_match, const char *etag)
{
	size_t length = strlen(etag);
	const char *at = if_none_match + strspn(if_none_match, ", \t");
	if (*at == '*')
		return true;
	while (*at) {
		at += strncmp(at, "W/", 2) == 0 ? 2 : 0;
		if (strncmp(at, etag, length - 1) == 0 &&
		    (at[length - 1] == '"' || strncmp(at + length - 1, "-gzip\"", 6) == 0))
			return true;
		const char *end = *at == '"' ? strchr(at + 1, '"') : NULL;
		at = end ? end + 1 : at;
		at += strcspn(at, ",");
		at += strspn(at, ", \t");
	}
	return false;
}

/* The reply's ETag; NULL: it has none. */
static const char *reply_etag(const struct reply *reply)
{
	for (size_t i = 0; i < reply->field_count; i++)
		if (strcmp(reply->fields[i].name, "ETag") == 0)
			return reply->fields[i].value;
	return NULL;
}

void etag_validate(struct request *rq)
{
	const struct http_call *http = rq->http;
	struct reply *reply = reply_of(rq);
	if (reply->status != 200 || !http->op || strcmp(http->op->method, "GET") != 0)
		return;
	const char *etag = reply_etag(reply);
	if (!etag && http->match.param_count > 0 && reply->length <= HASHED_MAX_BYTES) {
		etag = etag_of_content(rq->arena, reply->body, reply->length);
		reply_header(rq, "ETag", "%s", etag);
	}
	const char *known = etag ? field_list(rq, "If-None-Match") : NULL;
	if (!known || !etag_matches(known, etag))
		return;
	reply->status = 304;
	reply->type = NULL;
	reply->length = 0;
}
