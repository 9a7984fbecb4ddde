#include "base/base.h"
#include "base/identity.h"
#include "base/uuid.h"
#include "http/internal.h"

#include <string.h>
#include <strings.h>

/* Digits of a Content-Length: below 2^63 whatever they are. */
#define LENGTH_DIGITS_MAX 18

/* The fields that say where a request ends and whom it is for. */
struct framing {
	const struct http_field *host, *content_length, *transfer_encoding, *expect;
};

static const struct {
	const char *name;
	size_t length;
	size_t place; /* in struct framing */
	const char *twice;
} FRAMING[] = {
	{"Host", 4, offsetof(struct framing, host), "more than one Host field"},
	{"Content-Length", 14, offsetof(struct framing, content_length),
         "more than one Content-Length field"},
	{"Transfer-Encoding", 17, offsetof(struct framing, transfer_encoding),
         "more than one Transfer-Encoding field"},
	{"Expect", 6, offsetof(struct framing, expect), "more than one Expect field"},
};

const char *http_head_get(const struct http_head *head, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < head->field_count; i++)
		if (head->fields[i].name_length == length &&
		    strcasecmp(head->fields[i].name, name) == 0)
			return head->fields[i].value;
	return NULL;
}

size_t http_head_count(const struct http_head *head, const char *name)
{
	size_t count = 0, length = strlen(name);
	for (size_t i = 0; i < head->field_count; i++)
		if (head->fields[i].name_length == length &&
		    strcasecmp(head->fields[i].name, name) == 0)
			count++;
	return count;
}

const char *http_head_request_id(const struct http_head *head, struct arena *arena)
{
	static const char GOOD[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	const char *given = http_head_get(head, "X-Request-Id");
	if (given != NULL && http_head_count(head, "X-Request-Id") == 1) {
		size_t length = strlen(given);
		if (length >= 1 && length <= REQUEST_ID_MAX && strspn(given, GOOD) == length)
			return given;
	}
	char *text = arena_alloc(arena, UUID_TEXT_LEN + 1);
	struct uuid id = uuid_new();
	uuid_format(&id, text);
	return text;
}

static void head_place(struct http_open *open)
{
	struct http_head *head = &open->x.head;
	head->fields = http_collect_fields(&open->collect);
	head->field_count = open->collect.count;
	head->target = open->collect.text.data;
	head->target_length = open->target_length;
}

static enum err_code check_start(const struct http_conn *conn, struct http_head *head,
                                 const char **ret_detail)
{
	const llhttp_t *parser = &conn->parser;
	if (parser->http_major != 1 || parser->http_minor > 1) {
		*ret_detail = "only HTTP/1.0 and HTTP/1.1 are spoken here";
		return ERR_VERSION;
	}
	head->minor_version = parser->http_minor;
	head->method = llhttp_method_name((llhttp_method_t)parser->method);
	head->method_length = strlen(head->method);
	head->is_head = parser->method == HTTP_HEAD;
	if (parser->method == HTTP_CONNECT) {
		*ret_detail = "this method is not served";
		return ERR_METHOD;
	}
	return ERR_NONE;
}

/* Find the framing fields, once each. */
static enum err_code framing_find(const struct http_head *head, struct framing *framing,
                                  const char **ret_detail)
{
	for (size_t i = 0; i < head->field_count; i++) {
		const struct http_field *field = &head->fields[i];
		for (size_t row = 0; row < ARRAY_LEN(FRAMING); row++) {
			if (field->name_length != FRAMING[row].length ||
			    strcasecmp(field->name, FRAMING[row].name) != 0)
				continue;
			const struct http_field **place =
				(const struct http_field **)((char *)framing + FRAMING[row].place);
			if (*place != NULL) {
				*ret_detail = FRAMING[row].twice;
				return ERR_MALFORMED;
			}
			*place = field;
		}
	}
	return ERR_NONE;
}

static bool is_hex(char digit)
{
	return digit != '\0' && strchr("0123456789abcdefABCDEF", digit) != NULL;
}

/* Where a host ends: an address in brackets, or a name (RFC 3986 section 3.2.2, without commas, which
 * could be a list's). */
static const char *host_end(const char *host)
{
	static const char NAME[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "-._~!$&'()*+;=";
	if (*host == '[') {
		size_t length = strspn(host + 1, "0123456789abcdefABCDEF:.");
		return length > 0 && host[1 + length] == ']' ? host + length + 2 : host;
	}
	const char *at = host + strspn(host, NAME);
	while (at[0] == '%' && is_hex(at[1]) && is_hex(at[2])) {
		at += 3;
		at += strspn(at, NAME);
	}
	return at;
}

/* `host [":" port]` (RFC 9110 section 7.2) without user information. An empty one would be for a target
 * without a host, which is none of ours (section 4.2.1). */
static bool host_is_valid(const struct http_field *host)
{
	const char *end = host_end(host->value);
	if (end == host->value)
		return false;
	if (*end == ':')
		end += 1 + strspn(end + 1, "0123456789");
	return end == host->value + host->value_length;
}

static enum err_code check_host(const struct http_head *head, const struct framing *framing,
                                const char **ret_detail)
{
	if (framing->host == NULL && head->minor_version == 1)
		*ret_detail = "no Host field";
	else if (framing->host != NULL && !host_is_valid(framing->host))
		*ret_detail = "the Host field is not a host";
	return *ret_detail == NULL ? ERR_NONE : ERR_MALFORMED;
}

/* Take the authority off an absolute-form target, when it is the one that Host names. */
static bool target_drop_authority(struct http_head *head, const struct framing *framing)
{
	static const char SCHEME[] = "http://";
	const size_t scheme_length = strlen(SCHEME);
	if (strncasecmp(head->target, SCHEME, scheme_length) != 0)
		return false;
	char *authority = (char *)head->target + scheme_length; /* in the exchange's own text */
	size_t length = strcspn(authority, "/?#");
	if (length == 0)
		return false;
	if (framing->host != NULL && (framing->host->value_length != length ||
	                              strncasecmp(framing->host->value, authority, length) != 0))
		return false;
	if (authority[length] != '/') /* an empty path is `/`, RFC 9112 section 3.2.1 */
		authority[--length] = '/';
	head->target = authority + length;
	head->target_length -= scheme_length + length;
	return true;
}

static enum err_code check_target(struct http_head *head, const struct framing *framing,
                                  const char **ret_detail)
{
	*ret_detail = "the target is not a path of this server";
	bool is_asterisk = strcmp(head->method, "OPTIONS") == 0 && strcmp(head->target, "*") == 0;
	if (head->target[0] != '/' && !is_asterisk && !target_drop_authority(head, framing))
		return ERR_MALFORMED;
	for (size_t i = 0; i < head->target_length; i++) {
		unsigned char byte = (unsigned char)head->target[i];
		if (byte <= 0x20 || byte >= 0x7f || byte == '#')
			return ERR_MALFORMED;
	}
	*ret_detail = NULL;
	const char *mark = memchr(head->target, '?', head->target_length);
	head->path_length = head->target_length;
	if (mark != NULL) {
		head->path_length = (size_t)(mark - head->target);
		head->query = mark + 1;
		head->query_length = head->target_length - head->path_length - 1;
	}
	return ERR_NONE;
}

/* RFC 9112 section 6.3, without its allowances. */
static enum err_code check_length(struct http_head *head, const struct framing *framing,
                                  const char **ret_detail)
{
	const struct http_field *length = framing->content_length;
	const struct http_field *coding = framing->transfer_encoding;
	head->content_length = -1;
	if (coding != NULL) {
		head->is_chunked = head->has_content = true;
		if (length != NULL)
			*ret_detail = "both Content-Length and Transfer-Encoding";
		else if (head->minor_version == 0 || strcasecmp(coding->value, "chunked") != 0)
			*ret_detail = "the only transfer coding taken is chunked, in HTTP/1.1";
	} else if (length != NULL) {
		if (length->value_length == 0 || length->value_length > LENGTH_DIGITS_MAX ||
		    strspn(length->value, "0123456789") != length->value_length) {
			*ret_detail = "Content-Length is not a length";
			return ERR_MALFORMED;
		}
		head->content_length = 0;
		for (const char *digit = length->value; *digit != '\0'; digit++)
			head->content_length = 10 * head->content_length + (*digit - '0');
		head->has_content = head->content_length > 0;
	}
	return *ret_detail == NULL ? ERR_NONE : ERR_MALFORMED;
}

static enum err_code check_expect(struct http_open *open, const struct framing *framing,
                                  const char **ret_detail)
{
	const struct http_head *head = &open->x.head;
	if (framing->expect == NULL || head->minor_version == 0)
		return ERR_NONE;
	if (strcasecmp(framing->expect->value, "100-continue") != 0) {
		*ret_detail = "the only expectation met is 100-continue";
		return ERR_EXPECTATION;
	}
	open->is_continue_due = head->has_content;
	return ERR_NONE;
}

enum err_code http_head_complete(struct http_conn *conn, const char **ret_detail)
{
	struct http_open *open = conn->open;
	struct http_head *head = &open->x.head;
	struct framing framing = {0};
	enum err_code code;
	*ret_detail = NULL;
	head_place(open);
	if ((code = check_start(conn, head, ret_detail)) != ERR_NONE ||
	    (code = framing_find(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_host(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_target(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_length(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_expect(open, &framing, ret_detail)) != ERR_NONE)
		return code;
	conn->is_keep_alive = llhttp_should_keep_alive(&conn->parser) != 0;
	return ERR_NONE;
}
