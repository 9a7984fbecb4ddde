#include "base/base.h"
#include "crypto/identity.h"
#include "crypto/uuid.h"
#include "http/internal.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define TEXT_START_BYTES 1024 /* most heads fit in it */
#define SPANS_START      24

#define PORT_MAX 65535

/* Of all Connection fields together: a proxy compares each field with each of their options. */
#define CONNECTION_MAX_BYTES 256

/* A Content-Length with this many digits is below 2^63. */
#define LENGTH_DIGITS_MAX 18

/* The fields that say where a request ends and for which host it is; NULL: absent. */
struct framing {
	const struct http_field *host, *content_length, *transfer_encoding, *expect;
};

static const struct {
	const char *name;
	size_t length;
	size_t offset; /* in struct framing */
	const char *duplicate_detail;
} FRAMING[] = {
	{"Host", 4, offsetof(struct framing, host), "more than one Host field"},
	{"Content-Length", 14, offsetof(struct framing, content_length),
         "more than one Content-Length field"},
	{"Transfer-Encoding", 17, offsetof(struct framing, transfer_encoding),
         "more than one Transfer-Encoding field"},
	{"Expect", 6, offsetof(struct framing, expect), "more than one Expect field"},
};

static const struct {
	int status;
	const char *reason;
} REASONS[] = {
	{200, "OK"},
	{201, "Created"},
	{202, "Accepted"},
	{204, "No Content"},
	{206, "Partial Content"},
	{301, "Moved Permanently"},
	{302, "Found"},
	{303, "See Other"},
	{304, "Not Modified"},
	{307, "Temporary Redirect"},
	{308, "Permanent Redirect"},
	{400, "Bad Request"},
	{401, "Unauthorized"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{406, "Not Acceptable"},
	{408, "Request Timeout"},
	{409, "Conflict"},
	{410, "Gone"},
	{411, "Length Required"},
	{412, "Precondition Failed"},
	{413, "Content Too Large"},
	{414, "URI Too Long"},
	{415, "Unsupported Media Type"},
	{417, "Expectation Failed"},
	{421, "Misdirected Request"},
	{422, "Unprocessable Content"},
	{426, "Upgrade Required"},
	{428, "Precondition Required"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"},
	{501, "Not Implemented"},
	{502, "Bad Gateway"},
	{503, "Service Unavailable"},
	{504, "Gateway Timeout"},
	{505, "HTTP Version Not Supported"},
};

const char *http_reason(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(REASONS); i++)
		if (REASONS[i].status == status)
			return REASONS[i].reason;
	return "";
}

const char *http_status_class(int status)
{
	static const char *const CLASSES[] = {"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"};
	unsigned class = (unsigned)status / 100;
	return CLASSES[class < ARRAY_LEN(CLASSES) ? class : 0];
}

struct http_field http_field_of(const char *name, const char *value)
{
	return (struct http_field){
		.name = name,
		.value = value,
		.name_length = (uint32_t)strlen(name),
		.value_length = (uint32_t)strlen(value),
	};
}

bool http_field_is(const struct http_field *field, const char *name)
{
	return field->name_length == strlen(name) && strcasecmp(field->name, name) == 0;
}

int64_t http_field_length(const struct http_field *field)
{
	size_t digits = field->value_length;
	if (digits == 0 || digits > LENGTH_DIGITS_MAX ||
	    strspn(field->value, "0123456789") != digits)
		return -1;
	int64_t length = 0;
	for (const char *digit = field->value; *digit; digit++)
		length = 10 * length + (*digit - '0');
	return length;
}

const char *http_head_get(const struct http_head *head, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < head->field_count; i++)
		if (head->fields[i].name_length == length &&
		    strcasecmp(head->fields[i].name, name) == 0)
			return head->fields[i].value;
	return NULL;
}

bool http_type_is(const char *type, const char *wanted)
{
	size_t length = strlen(wanted);
	return type && strncasecmp(type, wanted, length) == 0 &&
	       strchr("; \t", type[length]) != NULL;
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
	if (given && http_head_count(head, "X-Request-Id") == 1) {
		size_t length = strlen(given);
		if (length >= 1 && length <= REQUEST_ID_MAX && strspn(given, GOOD) == length)
			return given;
	}
	char *text = arena_alloc(arena, UUID_TEXT_LEN + 1);
	struct uuid id = uuid_new();
	uuid_format(&id, text);
	return text;
}

void head_builder_init(struct head_builder *collect, struct arena *arena)
{
	*collect = (struct head_builder){
		.text = {.arena = arena,
	                 .data = arena_alloc(arena, TEXT_START_BYTES),
	                 .capacity = TEXT_START_BYTES},
		.spans = arena_array(arena, SPANS_START, sizeof(struct http_field_span)),
		.capacity = SPANS_START,
	};
}

static struct http_field_span *span_last(const struct head_builder *collect)
{
	return &collect->spans[collect->count - 1];
}

bool head_builder_name(struct head_builder *collect, const char *at, size_t length,
                       size_t fields_max)
{
	if (collect->count == 0 || span_last(collect)->value != 0) {
		if (collect->count == fields_max)
			return false;
		if (collect->count == collect->capacity) {
			size_t size = collect->capacity * sizeof(*collect->spans);
			collect->spans =
				arena_grow(collect->text.arena, collect->spans, size, 2 * size);
			collect->capacity *= 2;
		}
		collect->spans[collect->count++] =
			(struct http_field_span){.name = (uint32_t)collect->text.length};
	}
	buf_add(&collect->text, at, length);
	span_last(collect)->name_length += (uint32_t)length;
	return true;
}

void head_builder_name_end(struct head_builder *collect)
{
	buf_add(&collect->text, "", 1);
	span_last(collect)->value = (uint32_t)collect->text.length;
}

void head_builder_value(struct head_builder *collect, const char *at, size_t length)
{
	buf_add(&collect->text, at, length);
	span_last(collect)->value_length += (uint32_t)length;
}

void head_builder_value_end(struct head_builder *collect)
{
	buf_add(&collect->text, "", 1);
}

struct http_field *head_builder_fields(struct head_builder *collect)
{
	char *text = collect->text.data;
	struct http_field *fields =
		arena_array(collect->text.arena, collect->count, sizeof(*fields));
	for (size_t i = 0; i < collect->count; i++) {
		const struct http_field_span *span = &collect->spans[i];
		char *value = text + span->value;
		uint32_t length = span->value_length;
		while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
			length--;
		value[length] = '\0';
		fields[i] = (struct http_field){
			.name = text + span->name,
			.name_length = span->name_length,
			.value = value,
			.value_length = length,
		};
	}
	return fields;
}

static void head_fill(struct server_exchange *exchange)
{
	struct http_head *head = &exchange->x.head;
	head->fields = head_builder_fields(&exchange->collect);
	head->field_count = exchange->collect.count;
	head->target = exchange->collect.text.data;
	head->target_length = exchange->target_length;
}

static enum err_code check_start(const struct http_conn *conn, struct http_head *head,
                                 const char **ret_detail)
{
	const llhttp_t *parser = &conn->parser;
	if (parser->http_major != 1 || parser->http_minor > 1) {
		*ret_detail = "only HTTP/1.0 and HTTP/1.1 are supported";
		return ERR_VERSION;
	}
	head->minor_version = parser->http_minor;
	head->method = llhttp_method_name((llhttp_method_t)parser->method);
	head->method_length = strlen(head->method);
	head->is_head = parser->method == HTTP_HEAD;
	if (parser->method == HTTP_CONNECT) {
		*ret_detail = "the method is not supported";
		return ERR_METHOD;
	}
	return ERR_NONE;
}

/* Find the framing fields; each may occur once. */
static enum err_code framing_find(const struct http_head *head, struct framing *framing,
                                  const char **ret_detail)
{
	for (size_t i = 0; i < head->field_count; i++) {
		const struct http_field *field = &head->fields[i];
		for (size_t row = 0; row < ARRAY_LEN(FRAMING); row++) {
			if (field->name_length != FRAMING[row].length ||
			    strcasecmp(field->name, FRAMING[row].name) != 0)
				continue;
			const struct http_field **found =
				(const struct http_field **)((char *)framing + FRAMING[row].offset);
			if (*found) {
				*ret_detail = FRAMING[row].duplicate_detail;
				return ERR_MALFORMED;
			}
			*found = field;
		}
	}
	return ERR_NONE;
}

static bool is_hex(char digit)
{
	return digit != '\0' && strchr("0123456789abcdefABCDEF", digit);
}

/* The length of an IPv6 address in brackets at the start of `text`; 0: there is none. */
static size_t ipv6_length(const char *text)
{
	char address[INET6_ADDRSTRLEN];
	struct in6_addr parsed;
	size_t length = strspn(text + 1, "0123456789abcdefABCDEF:.");
	if (length >= sizeof(address) || text[1 + length] != ']')
		return 0;
	memcpy(address, text + 1, length);
	address[length] = '\0';
	return inet_pton(AF_INET6, address, &parsed) == 1 ? length + 2 : 0;
}

/* The end of a host: an address in brackets or a name (RFC 3986 section 3.2.2). Commas are refused
 * because they could separate the members of a list. */
static const char *host_end(const char *host)
{
	static const char NAME[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "-._~!$&'()*+;=";
	if (*host == '[')
		return host + ipv6_length(host);
	const char *at = host + strspn(host, NAME);
	while (at[0] == '%' && is_hex(at[1]) && is_hex(at[2])) {
		at += 3;
		at += strspn(at, NAME);
	}
	return at;
}

/* The end of a port, which may be empty; `port` itself when it is over PORT_MAX. */
static const char *port_end(const char *port)
{
	unsigned number = 0;
	const char *at = port;
	for (; *at >= '0' && *at <= '9' && number <= PORT_MAX; at++)
		number = 10 * number + (unsigned)(*at - '0');
	return number <= PORT_MAX ? at : port;
}

/* `host [":" port]` (RFC 9110 section 7.2) without user information. An empty host is invalid in
 * the http scheme (section 4.2.1). */
static bool host_is_valid(const struct http_field *host)
{
	const char *end = host_end(host->value);
	if (end == host->value)
		return false;
	if (*end == ':')
		end = port_end(end + 1);
	return end == host->value + host->value_length;
}

static enum err_code check_host(const struct http_head *head, const struct framing *framing,
                                const char **ret_detail)
{
	if (!framing->host && head->minor_version == 1)
		*ret_detail = "no Host field";
	else if (framing->host && !host_is_valid(framing->host))
		*ret_detail = "the Host field is not a host";
	return *ret_detail ? ERR_MALFORMED : ERR_NONE;
}

/* The length of `http://` or `https://` at the start of a target; 0: it has neither. */
static size_t scheme_prefix(const char *target)
{
	static const char *const SCHEMES[] = {"http://", "https://"};
	for (size_t i = 0; i < ARRAY_LEN(SCHEMES); i++)
		if (strncasecmp(target, SCHEMES[i], strlen(SCHEMES[i])) == 0)
			return strlen(SCHEMES[i]);
	return 0;
}

/* Remove the authority from an absolute-form target if it equals the Host field. */
static bool target_drop_authority(struct http_head *head, const struct framing *framing)
{
	const size_t scheme_length = scheme_prefix(head->target);
	if (scheme_length == 0)
		return false;
	char *authority = (char *)head->target + scheme_length; /* writable: the collected text */
	size_t length = strcspn(authority, "/?#");
	if (length == 0)
		return false;
	if (framing->host && (framing->host->value_length != length ||
	                      strncasecmp(framing->host->value, authority, length) != 0))
		return false;
	if (authority[length] != '/') /* RFC 9112 section 3.2.1: an empty path is `/` */
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
	if (mark) {
		head->path_length = (size_t)(mark - head->target);
		head->query = mark + 1;
		head->query_length = head->target_length - head->path_length - 1;
	}
	return ERR_NONE;
}

/* RFC 9112 section 6.3; refuses what the RFC lets a server repair. */
static enum err_code check_length(struct http_head *head, const struct framing *framing,
                                  const char **ret_detail)
{
	const struct http_field *length = framing->content_length;
	const struct http_field *coding = framing->transfer_encoding;
	head->content_length = -1;
	if (coding) {
		head->is_chunked = head->has_content = true;
		if (length)
			*ret_detail = "both Content-Length and Transfer-Encoding";
		else if (head->minor_version == 0 || strcasecmp(coding->value, "chunked") != 0)
			*ret_detail = "the only supported transfer coding is chunked, in HTTP/1.1";
	} else if (length) {
		head->content_length = http_field_length(length);
		head->has_content = head->content_length > 0;
		if (head->content_length < 0)
			*ret_detail = "Content-Length is not a length";
	}
	return *ret_detail ? ERR_MALFORMED : ERR_NONE;
}

static enum err_code check_expect(struct server_exchange *exchange, const struct framing *framing,
                                  const char **ret_detail)
{
	const struct http_head *head = &exchange->x.head;
	if (!framing->expect || head->minor_version == 0)
		return ERR_NONE;
	if (strcasecmp(framing->expect->value, "100-continue") != 0) {
		*ret_detail = "the only supported expectation is 100-continue";
		return ERR_EXPECTATION;
	}
	exchange->is_continue_due = head->has_content;
	return ERR_NONE;
}

static enum err_code check_connection(const struct http_head *head, const char **ret_detail)
{
	size_t bytes = 0;
	for (size_t i = 0; i < head->field_count; i++)
		if (http_field_is(&head->fields[i], "Connection"))
			bytes += head->fields[i].value_length;
	if (bytes > CONNECTION_MAX_BYTES)
		*ret_detail = "the Connection field is too long";
	return *ret_detail ? ERR_MALFORMED : ERR_NONE;
}

enum err_code http_head_complete(struct http_conn *conn, const char **ret_detail)
{
	struct server_exchange *exchange = conn->exchange;
	struct http_head *head = &exchange->x.head;
	struct framing framing = {0};
	enum err_code code;
	*ret_detail = NULL;
	head_fill(exchange);
	if ((code = check_start(conn, head, ret_detail)) != ERR_NONE ||
	    (code = framing_find(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_host(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_target(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_length(head, &framing, ret_detail)) != ERR_NONE ||
	    (code = check_connection(head, ret_detail)) != ERR_NONE ||
	    (code = check_expect(exchange, &framing, ret_detail)) != ERR_NONE)
		return code;
	conn->is_keep_alive = llhttp_should_keep_alive(&conn->parser) != 0;
	return ERR_NONE;
}
