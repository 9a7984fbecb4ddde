#include "mcp/operation.h"

#include "base/timefmt.h"
#include "http/body.h"
#include "http/method.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "proxy/edge.h"
#include "proxy/proxy.h"
#include "request/http_request.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX_BYTES ((size_t)8 << 20)
#define FIELDS_MAX       6

/* A request of the gateway itself, and its answer as far as it has arrived. In the arena of the
 * request that it is made for; the proxy's own memory is in x.arena. */
struct inner {
	struct http_exchange x;
	struct request *rq; /* its fiber waits, and delivers the content */
	const char *content;
	struct http_field fields[FIELDS_MAX];
	struct http_body body; /* of the answer */
	int64_t total, retry_after_s;
	enum err_code failure; /* of the answer */
	bool is_paused, is_delivered;
	bool is_over;
	bool is_cancelled; /* the request is, and its client waits for an answer */
};

static struct inner *inner_of(struct http_exchange *x)
{
	return CONTAINER_OF(x, struct inner, x);
}

/* --- What the proxy calls --------------------------------------------------------------------- */

static void on_pause(struct http_exchange *x)
{
	inner_of(x)->is_paused = true;
}

static void on_resume(struct http_exchange *x)
{
	struct inner *inner = inner_of(x);
	inner->is_paused = false;
	fiber_wake(inner->rq->fiber);
}

/* The value of a field that is a whole number; `fallback`: there is none. */
static int64_t number_of(const struct http_field *fields, size_t count, const char *name,
                         int64_t fallback)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(fields[i].name, name) == 0)
			return strtoll(fields[i].value, NULL, 10);
	return fallback;
}

static void on_start(struct http_exchange *x, int status, const struct http_field *fields,
                     size_t field_count, int64_t content_length)
{
	struct inner *inner = inner_of(x);
	x->status = status;
	inner->total = number_of(fields, field_count, "X-Total-Count", -1);
	inner->retry_after_s = number_of(fields, field_count, "Retry-After", 0);
	http_body_init(&inner->body, inner->rq->arena, &inner->rq->caller.account, ANSWER_MAX_BYTES,
	               content_length);
}

static bool on_content(struct http_exchange *x, const void *data, size_t length)
{
	struct inner *inner = inner_of(x);
	x->sent_bytes += length;
	if (!inner->failure)
		inner->failure = http_body_add(&inner->body, data, length);
	return false;
}

static void on_end(struct http_exchange *x)
{
	struct inner *inner = inner_of(x);
	inner->is_over = true;
	fiber_wake(inner->rq->fiber);
}

static void on_abort(struct http_exchange *x)
{
	inner_of(x)->failure = ERR_UPSTREAM;
	on_end(x);
}

static const struct proxy_client CLIENT = {
	.content_pause = on_pause,
	.content_resume = on_resume,
	.respond_start = on_start,
	.respond_content = on_content,
	.respond_end = on_end,
	.respond_abort = on_abort,
};

/* --- The request ------------------------------------------------------------------------------ */

static void add_field(struct inner *inner, const char *name, const char *value)
{
	if (value)
		inner->fields[inner->x.head.field_count++] = http_field_of(name, value);
}

static void set_head(struct inner *inner, const struct operation_call *call)
{
	struct request *rq = inner->rq;
	struct http_head *head = &inner->x.head;
	const char *query = strchr(call->target, '?');
	*head = (struct http_head){
		.method = call->op->method,
		.method_length = strlen(call->op->method),
		.target = call->target,
		.target_length = strlen(call->target),
		.path_length = strcspn(call->target, "?"),
		.query = query ? query + 1 : NULL,
		.query_length = query ? strlen(query + 1) : 0,
		.minor_version = 1,
		.fields = inner->fields,
		.content_length = call->json_body ? (int64_t)strlen(call->json_body) : -1,
		.has_content = call->json_body,
	};
	add_field(inner, "Host", request_header(rq, "Host"));
	add_field(inner, "Authorization", request_header(rq, "Authorization"));
	add_field(inner, "X-Request-Id", rq->id);
	add_field(inner, "traceparent", rq->traceparent);
	add_field(inner, "Idempotency-Key", call->idempotency_key);
	add_field(inner, "Content-Type", call->json_body ? "application/json" : NULL);
}

static struct inner *inner_new(struct request *rq, const struct operation_call *call)
{
	struct inner *inner = arena_new_of(rq->arena, struct inner);
	inner->rq = rq;
	inner->content = call->json_body;
	inner->x.arena = arena_new();
	inner->x.started_us = time_monotonic_us();
	inner->x.peer = rq->http->exchange->peer;
	inner->x.scheme = rq->http->exchange->scheme;
	set_head(inner, call);
	return inner;
}

/* The exchange is over, or its request is cancelled. */
static void inner_done(struct request *rq attr_unused, void *held)
{
	struct inner *inner = held;
	if (!inner->is_over)
		proxy_gone(&inner->x,
		           inner->failure == ERR_TIMEOUT ? ERR_TIMEOUT : ERR_CLIENT_GONE);
	proxy_done(&inner->x);
	arena_free(inner->x.arena);
}

static void deliver_content(struct inner *inner)
{
	inner->is_delivered = true;
	if (inner->content)
		proxy_content(&inner->x, inner->content, strlen(inner->content));
	if (!inner->is_over)
		proxy_end(&inner->x);
}

/* Wait for the proxy. The end of the request's time, or of the process, is a failure of the
 * operation: the client is still answered. */
static void inner_wait(struct inner *inner)
{
	enum err_code reason = fiber_wait();
	if (reason == ERR_CLIENT_GONE)
		raise_error(inner->rq, reason, "the client has gone");
	inner->is_cancelled = reason;
	if (reason)
		inner->failure = reason;
}

static void inner_run(struct inner *inner)
{
	struct request *rq = inner->rq;
	proxy_request(edge_proxy(rq->worker), &inner->x, &CLIENT);
	request_hold(rq, inner_done, inner);
	while (!inner->is_over && !inner->is_cancelled)
		if (!inner->is_paused && !inner->is_delivered)
			deliver_content(inner);
		else
			inner_wait(inner);
	request_unhold(rq, inner_done);
	inner_done(rq, inner);
}

/* --- The answer ------------------------------------------------------------------------------- */

static yyjson_val *parse_answer(struct inner *inner)
{
	yyjson_val *root = NULL;
	const char *why;
	if (inner->failure || !inner->body.length)
		return NULL;
	enum err_code code =
		request_parse_peer(inner->rq, inner->body.data, inner->body.length, &root, &why);
	inner->failure = code == ERR_MALFORMED ? ERR_UPSTREAM : code;
	return root;
}

struct operation_answer operation_call(struct request *rq, const struct operation_call *call)
{
	struct inner *inner = inner_new(rq, call);
	inner_run(inner);
	if (inner->x.status == err_info(ERR_UNAUTHENTICATED)->status)
		raise_error(rq, ERR_UNAUTHENTICATED, "%s", err_info(ERR_UNAUTHENTICATED)->detail);
	yyjson_val *json = parse_answer(inner);
	if (inner->failure)
		log_warn("the answer of an operation cannot be used",
		         f_text("operation", call->op->name), f_int("status", inner->x.status),
		         f_text("error", err_info(inner->failure)->slug));
	return (struct operation_answer){
		.failure = inner->failure,
		.status = inner->x.status,
		.json = json,
		.total = inner->total,
		.retry_after_s = inner->retry_after_s,
	};
}

/* 503 is sent when nothing was done, but for ERR_UNCERTAIN. */
bool operation_is_uncertain(const struct api_op *op, const struct operation_answer *answer)
{
	const char *slug = json_get_text(answer->json, "error");
	if (http_method_is_safe(op->method) || op->flags & API_READS)
		return false;
	if (answer->status >= 400 && answer->status < 500)
		return false;
	return answer->status != err_info(ERR_UNAVAILABLE)->status || answer->failure ||
	       (slug && strcmp(slug, err_info(ERR_UNCERTAIN)->slug) == 0);
}
