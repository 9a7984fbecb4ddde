#include "base/base.h"
#include "base/timefmt.h"
#include "proxy/proxy_internal.h"
#include "session/cookie.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define TRACEPARENT      "traceparent"
#define HEAD_START_BYTES 2048 /* most heads fit into it */

/* The direction in which a field is not passed on. */
enum {
	DROP_REQUEST = 1,
	DROP_ANSWER = 2,
	DROP_BOTH = DROP_REQUEST | DROP_ANSWER,
};

#define NAME(text) (text), sizeof(text) - 1

static const struct {
	const char *name;
	size_t length;
	int direction;
} DROPPED[] = {
	/* apply to one connection only: RFC 9110 section 7.6.1, and older fields of this kind */
	{NAME("Connection"), DROP_BOTH},
	{NAME("Keep-Alive"), DROP_BOTH},
	{NAME("Proxy-Connection"), DROP_BOTH},
	{NAME("Proxy-Authenticate"), DROP_BOTH},
	{NAME("Proxy-Authorization"), DROP_BOTH},
	{NAME("TE"), DROP_BOTH},
	{NAME("Trailer"), DROP_BOTH},
	{NAME("Transfer-Encoding"), DROP_BOTH},
	{NAME("Upgrade"), DROP_BOTH},
	{NAME("HTTP2-Settings"), DROP_BOTH},
	/* set by the gateway itself, or ones that a client must not forge */
	{NAME("Content-Length"), DROP_BOTH},
	{NAME("X-Request-Id"), DROP_BOTH},
	{NAME("Host"), DROP_REQUEST},
	{NAME("Expect"), DROP_REQUEST},
	{NAME("Authorization"), DROP_REQUEST},
	{NAME("Cookie"), DROP_REQUEST},
	{NAME("Set-Cookie"), DROP_ANSWER},
	{NAME("Forwarded"), DROP_REQUEST},
	{NAME("X-Real-IP"), DROP_REQUEST},
	{NAME("Via"), DROP_ANSWER},
	{NAME("Date"), DROP_ANSWER},
	{NAME("Server"), DROP_ANSWER},
	{NAME("RateLimit"), DROP_ANSWER},
	{NAME("RateLimit-Policy"), DROP_ANSWER},
};

static const struct {
	const char *name;
	size_t length;
	int direction;
} DROPPED_PREFIXES[] = {
	{NAME("X-Expops-"), DROP_BOTH},
	{NAME("X-Forwarded-"), DROP_REQUEST},
};

static bool is_dropped(const struct http_field *field, int side)
{
	for (size_t i = 0; i < ARRAY_LEN(DROPPED); i++)
		if (DROPPED[i].length == field->name_length && (DROPPED[i].direction & side) &&
		    strcasecmp(DROPPED[i].name, field->name) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_LEN(DROPPED_PREFIXES); i++)
		if (DROPPED_PREFIXES[i].length <= field->name_length &&
		    (DROPPED_PREFIXES[i].direction & side) &&
		    strncasecmp(DROPPED_PREFIXES[i].name, field->name,
		                DROPPED_PREFIXES[i].length) == 0)
			return true;
	return false;
}

/* Whether the comma-separated list contains the field's name. */
static bool list_has(const struct http_field *list, const struct http_field *field)
{
	for (const char *at = list->value; *at; at += *at == ',') {
		at += strspn(at, " \t");
		size_t length = strcspn(at, ", \t");
		if (length == field->name_length && strncasecmp(at, field->name, length) == 0)
			return true;
		at += strcspn(at, ",");
	}
	return false;
}

/* Whether a Connection field lists it. */
static bool is_connection_option(const struct http_field *fields, size_t count,
                                 const struct http_field *field)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i].name_length == 10 && strcasecmp(fields[i].name, "Connection") == 0 &&
		    list_has(&fields[i], field))
			return true;
	return false;
}

static bool is_passed(const struct http_field *fields, size_t count, const struct http_field *field,
                      int side)
{
	return !is_dropped(field, side) && !is_connection_option(fields, count, field);
}

static const char *bearer_of(const struct http_head *head)
{
	static const char SCHEME[] = "Bearer ";
	const char *value = http_head_get(head, "Authorization");
	if (!value || http_head_count(head, "Authorization") != 1 ||
	    strncasecmp(value, SCHEME, sizeof(SCHEME) - 1) != 0)
		return NULL;
	value += sizeof(SCHEME) - 1;
	return value + strspn(value, " ");
}

enum err_code proxy_credential(const struct proxy_exchange *p, struct credential *ret)
{
	const struct http_head *head = &p->x->head;
	*ret = (struct credential){.text = bearer_of(head)};
	if (ret->text || !p->proxy->parts.cookies || p->match.op->flags & (API_OPEN | API_PROTOCOL))
		return ERR_NONE;
	ret->text = cookie_read(p->proxy->parts.cookies, p->x->arena, head);
	ret->is_session = true;
	ret->account = http_head_get(head, ACCOUNT_FIELD);
	return ret->text ? cookie_permit(p->proxy->parts.cookies, head, p->match.op) : ERR_NONE;
}

static void add_field(struct buf *head, const char *name, const char *value)
{
	buf_puts(head, name);
	buf_add(head, ": ", 2);
	buf_puts(head, value);
	buf_add(head, "\r\n", 2);
}

static void add_passed(struct buf *out, const struct proxy_exchange *p)
{
	const struct http_head *head = &p->x->head;
	for (size_t i = 0; i < head->field_count; i++) {
		const struct http_field *field = &head->fields[i];
		if (!is_passed(head->fields, head->field_count, field, DROP_REQUEST) ||
		    (p->traceparent && strcasecmp(field->name, TRACEPARENT) == 0))
			continue;
		buf_add(out, field->name, field->name_length);
		buf_add(out, ": ", 2);
		buf_add(out, field->value, field->value_length);
		buf_add(out, "\r\n", 2);
	}
}

/* Add the field from which the service knows where the content ends. */
static void add_framing(struct buf *out, const struct proxy_exchange *p)
{
	const struct http_head *head = &p->x->head;
	if (!p->has_content) {
		if (strcmp(head->method, "GET") != 0 && !head->is_head)
			add_field(out, "Content-Length", "0");
	} else if (head->is_chunked) {
		add_field(out, "Transfer-Encoding", "chunked");
	} else {
		buf_printf(out, "Content-Length: %" PRId64 "\r\n", head->content_length);
	}
}

/* The value of IDENTITY_HEADER. */
static const char *sign(const struct proxy_exchange *p)
{
	const struct http_head *head = &p->x->head;
	const struct identity_request request = {
		.method = head->method,
		.method_length = head->method_length,
		.target = head->target,
		.target_length = head->target_length,
		.id = p->request_id,
	};
	return signature_cache_sign(p->proxy->signatures,
	                            p->proxy->parts.signers[p->match.op->service],
	                            &p->authorization.caller, p->x->arena, &request, time_now_ms());
}

void proxy_compose_head(struct proxy_exchange *p)
{
	const struct http_head *head = &p->x->head;
	struct arena *arena = p->x->arena;
	const char *host = http_head_get(head, "Host");
	struct buf out = {
		.arena = arena,
		.data = arena_alloc(arena, HEAD_START_BYTES),
		.capacity = HEAD_START_BYTES,
	};
	if (!host) /* an HTTP/1.0 request may lack it */
		host = "expops";
	buf_add(&out, head->method, head->method_length);
	buf_add(&out, " ", 1);
	buf_add(&out, head->target, head->target_length);
	buf_puts(&out, " HTTP/1.1\r\n");
	add_field(&out, "Host", host);
	add_passed(&out, p);
	add_framing(&out, p);
	add_field(&out, "X-Forwarded-For", p->x->peer);
	add_field(&out, "X-Forwarded-Proto", p->x->scheme);
	add_field(&out, "X-Forwarded-Host", host);
	add_field(&out, "Via", head->minor_version == 0 ? "1.0 expops" : "1.1 expops");
	add_field(&out, "X-Request-Id", p->request_id);
	if (p->traceparent)
		add_field(&out, TRACEPARENT, p->traceparent);
	add_field(&out, IDENTITY_HEADER, sign(p));
	buf_add(&out, "\r\n", 2);
	p->head = out;
}

static size_t rate_fields(struct proxy_exchange *p, struct http_field fields[2])
{
	if (!p->rate.limit)
		return 0;
	fields[0] = http_field_of("RateLimit",
	                          arena_printf(p->x->arena, "\"%s\";r=%" PRId64 ";t=%" PRId64,
	                                       p->rate.policy, p->rate.remaining, p->rate.reset_s));
	fields[1] = http_field_of("RateLimit-Policy", p->rate.policies);
	return 2;
}

size_t proxy_added_fields(struct proxy_exchange *p, struct http_field fields[PROXY_ADDED_MAX])
{
	size_t count = rate_fields(p, fields);
	if (p->proxy->parts.cors)
		count += cors_fields(p->proxy->parts.cors, &p->x->head, fields + count);
	return count;
}

void proxy_respond_preflight(struct proxy_exchange *p)
{
	struct http_field fields[1 + CORS_FIELDS_MAX];
	size_t count = cors_preflight_fields(p->proxy->parts.cors, &p->x->head, fields);
	fields[count++] = http_field_of("X-Request-Id", p->request_id);
	p->client->respond_start(p->x, 204, fields, count, 0);
	p->client->respond_end(p->x);
}

void proxy_respond_answer(struct proxy_exchange *p, const struct upstream_answer *answer)
{
	struct http_field *fields =
		arena_array(p->x->arena, answer->field_count + 1 + PROXY_ADDED_MAX,
	                    sizeof(*fields));
	size_t count = 0;
	for (size_t i = 0; i < answer->field_count; i++)
		if (is_passed(answer->fields, answer->field_count, &answer->fields[i], DROP_ANSWER))
			fields[count++] = answer->fields[i];
	fields[count++] = http_field_of("X-Request-Id", p->request_id);
	count += proxy_added_fields(p, fields + count);
	p->client->respond_start(p->x, answer->status, fields, count, answer->content_length);
}

void proxy_respond_problem(struct proxy_exchange *p, struct problem *problem)
{
	struct arena *arena = p->x->arena;
	const struct err_info *info = err_info(problem->code);
	struct http_field fields[5 + PROXY_ADDED_MAX];
	size_t count = 0, length;
	const char *body = problem_body(arena, problem, p->request_id, &length);
	const char *challenge = problem_www_authenticate(arena, problem);
	fields[count++] = http_field_of("Content-Type", "application/problem+json");
	fields[count++] = http_field_of("X-Request-Id", p->request_id);
	if (challenge)
		fields[count++] = http_field_of("WWW-Authenticate", challenge);
	if (problem->allow)
		fields[count++] = http_field_of("Allow", problem->allow);
	unsigned retry_after_s = problem_retry_after_s(problem);
	if (retry_after_s)
		fields[count++] =
			http_field_of("Retry-After", arena_printf(arena, "%u", retry_after_s));
	count += proxy_added_fields(p, fields + count);
	p->code = problem->code;
	p->client->respond_start(p->x, info->status, fields, count, (int64_t)length);
	p->client->respond_content(p->x, body, length);
	p->client->respond_end(p->x);
}
