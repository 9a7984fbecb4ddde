#include "reply/etag.h"

#include "base/base.h"
#include "crypto/crypto.h"
#include "http/accept_encoding.h"
#include "input/input.h"
#include "reply/reply.h"

#include <string.h>
#include <strings.h>

#define VERSION_DIGITS_MAX 18          /* always fits a bigint */
#define TAG_BYTES          16          /* of the SHA-256 */
#define HASHED_MAX_BYTES   (256 << 10) /* hashing more would delay other requests */
#define GZIP_SUFFIX        "-gzip"

/* The number of digits of a version as etag_reply() writes it: no sign, no leading zero, optionally
 * a hyphen and a hash. 0: it is none. */
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

/* An entity tag of a list: `W/"5-gzip"` has the text `5` and is weak. */
struct tag {
	const char *text; /* without quotes and without GZIP_SUFFIX; not terminated */
	size_t length;
	bool is_weak;
};

static size_t length_without_suffix(const char *text, size_t length)
{
	const size_t suffix = sizeof(GZIP_SUFFIX) - 1;
	bool is_gzip = length > suffix && memcmp(text + length - suffix, GZIP_SUFFIX, suffix) == 0;
	return is_gzip ? length - suffix : length;
}

/* Read the next tag of the list `*at` and move `*at` past it. Skips what is no tag. False: there is
 * none. */
static bool tag_next(const char **at, struct tag *ret_tag)
{
	while (*(*at += strspn(*at, ", \t"))) {
		bool is_weak = strncmp(*at, "W/\"", 3) == 0;
		const char *quote = *at + (is_weak ? 2 : 0);
		const char *end = *quote == '"' ? strchr(quote + 1, '"') : NULL;
		*at = end ? end + 1 : *at;
		*at += strcspn(*at, ",");
		if (!end)
			continue;
		*ret_tag = (struct tag){
			.text = quote + 1,
			.length = length_without_suffix(quote + 1, (size_t)(end - quote - 1)),
			.is_weak = is_weak,
		};
		return true;
	}
	return false;
}

/* The field's value is `*`, which stands for any tag. */
static bool is_any(const char *list)
{
	const char *at = list + strspn(list, " \t");
	return *at == '*' && at[1 + strspn(at + 1, " \t")] == '\0';
}

const char *etag_versions(struct arena *arena, const char *if_match)
{
	struct buf list = {.arena = arena};
	struct tag tag;
	if (is_any(if_match))
		return NULL;
	buf_puts(&list, "{");
	while (tag_next(&if_match, &tag)) {
		size_t digits = tag.is_weak ? 0 : version_digits(tag.text, tag.length);
		if (digits)
			buf_printf(&list, "%s%.*s", list.length > 1 ? "," : "", (int)digits,
			           tag.text);
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

void etag_refuse_if_match(struct request *rq)
{
	static const char *const METHODS[] = {"PUT", "PATCH", "DELETE"};
	const struct api_op *op = rq->http->op;
	bool is_change = false;
	for (size_t i = 0; op && i < ARRAY_LEN(METHODS); i++)
		is_change |= strcmp(op->method, METHODS[i]) == 0;
	if (!is_change || op->flags & API_VERSIONED)
		return;
	const char *list = field_list(rq, "If-Match");
	if (!list || is_any(list))
		return;
	problem_add_field(rq->arena, &rq->problem, "If-Match",
	                  "is not taken here: this operation compares no versions");
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

const char *etag_of_gzip(struct arena *arena, const char *etag)
{
	if (etag[0] != '"')
		return etag;
	return arena_printf(arena, "%.*s%s\"", (int)strlen(etag) - 1, etag, GZIP_SUFFIX);
}

bool etag_matches(const char *if_none_match, const char *etag)
{
	struct tag known, own;
	if (is_any(if_none_match))
		return true;
	require(tag_next(&etag, &own));
	while (tag_next(&if_none_match, &known)) {
		if (known.length == own.length && memcmp(known.text, own.text, own.length) == 0)
			return true;
	}
	return false;
}

/* The reply's ETag; NULL: it has none. */
static struct http_field *reply_etag(struct reply *reply)
{
	for (size_t i = 0; i < reply->field_count; i++)
		if (strcmp(reply->fields[i].name, "ETag") == 0)
			return &reply->fields[i];
	return NULL;
}

void etag_require(struct request *rq, const struct pg_rows *rows, const char *noun)
{
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such %s", noun);
	if (!pg_json(rows))
		raise_error(rq, ERR_PRECONDITION, "the %s has changed meanwhile", noun);
}

void etag_reply_object(struct request *rq, int status, const struct pg_rows *rows, const char *noun)
{
	etag_require(rq, rows, noun);
	etag_reply(rq, pg_get(rows, 0, "tag"));
	reply_json(rq, status, pg_json(rows));
}

bool etag_is_asked(struct request *rq)
{
	return http_head_get(&rq->http->head, "If-None-Match");
}

static bool is_known(struct request *rq, const char *etag)
{
	const char *known = field_list(rq, "If-None-Match");
	return known && etag_matches(known, etag);
}

/* The tag of a 304 in place of so much content with the tag `etag`: of the form that the client
 * has, or else of the one that a 200 would have now. A cache finds what it has by it (RFC 9111,
 * section 4.3.4). */
static const char *tag_of_form(struct request *rq, const char *etag, size_t length)
{
	const char *known = field_list(rq, "If-None-Match");
	const char *of_gzip = etag_of_gzip(rq->arena, etag);
	if (!coding_is_accepted(&rq->http->head, CODING_GZIP))
		return etag;
	if (known && strstr(known, of_gzip))
		return of_gzip;
	bool has_plain = known && strstr(known, etag);
	return has_plain || length < REPLY_GZIP_MIN_BYTES ? etag : of_gzip;
}

/* Turn the reply into a 304. It has the fields of the 200 (RFC 9110, section 15.4.5), whose content
 * has so many bytes: SIZE_MAX, they are not known. */
static void reply_not_modified(struct request *rq, size_t length)
{
	struct reply *reply = reply_of(rq);
	struct http_field *etag = reply_etag(reply);
	reply->status = 304;
	reply->type = NULL;
	reply->length = 0;
	reply->is_varying = length >= REPLY_GZIP_MIN_BYTES;
	if (etag)
		*etag = http_field_of(etag->name, tag_of_form(rq, etag->value, length));
}

bool etag_reply_known(struct request *rq, const char *text)
{
	if (!is_known(rq, arena_printf(rq->arena, "\"%s\"", text)))
		return false;
	etag_reply(rq, text);
	reply_empty(rq, 304);
	reply_not_modified(rq, SIZE_MAX);
	return true;
}

void etag_reply_unchanged(struct request *rq)
{
	reply_of(rq)->is_unchanged = true;
}

void etag_validate(struct request *rq)
{
	const struct http_call *http = rq->http;
	struct reply *reply = reply_of(rq);
	if (reply->status != 200 || !http->op || strcmp(http->op->method, "GET") != 0)
		return;
	const struct http_field *etag = reply_etag(reply);
	if (!etag && http->match.param_count > 0 && !reply->is_secret &&
	    reply->length <= HASHED_MAX_BYTES) {
		reply_header(rq, "ETag", "%s",
		             etag_of_content(rq->arena, reply->body, reply->length));
		etag = reply_etag(reply);
	}
	if (reply->is_unchanged || (etag && is_known(rq, etag->value)))
		reply_not_modified(rq, reply->length);
}
