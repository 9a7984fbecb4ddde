/* The states of one exchange.
 *
 *     MATCH --> AUTH --> CONNECT --> SEND --> RELAY --> ANSWERED
 *                |          ^          |
 *                v          +-- retry -+
 *           HANDED_OVER
 *
 * A problem reply goes from MATCH, AUTH, CONNECT or SEND to ANSWERED. An operation that needs no
 * key skips AUTH. A call that gets a kept connection skips CONNECT. From every state except MATCH
 * and HANDED_OVER the exchange can go to ABORTED: the client disconnected, or the answer is
 * incomplete. The table MOVES lists every allowed move.
 *
 *   state        waits for                     holds  the request's content
 *   MATCH        nothing                       -      -
 *   AUTH         the key's look-up             auth   paused
 *   HANDED_OVER  nothing: see local.h          -      -
 *   CONNECT      a connection to the service   call   paused
 *   SEND         the service's answer          call   sent on; paused while its queue is full;
 *                                              auth   its end held back until the key is checked
 *                                                     again
 *   RELAY        the end of the answer         call   as in SEND
 *   ANSWERED     the response to be sent       -      dropped
 *   ABORTED      on_done                       -      dropped
 *
 * The rate limits, the scope and the size of the content are checked between AUTH and CONNECT. When
 * a request with content is complete, its key is checked again, in the state SEND: a look-up may be
 * waited for there too, while the end of the content is held back. From RELAY on the response has
 * started: a failure then closes the client's connection.
 */
#include "audit/audit.h"
#include "base/base.h"
#include "base/timefmt.h"
#include "console/console.h"
#include "http/method.h"
#include "observe/trace.h"
#include "proxy/local.h"
#include "proxy/origin.h"
#include "proxy/proxy_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DROPPED_MAX_BYTES (1 << 20) /* of content that the operation does not read */
#define UNSENT_MAX        3 /* connections that may break before a byte of the request is sent */

#define TO(state) (1U << PROXY_##state)

static const unsigned MOVES[PROXY_STATES] = {
	[PROXY_MATCH] = TO(AUTH) | TO(HANDED_OVER) | TO(CONNECT) | TO(SEND) | TO(ANSWERED),
	[PROXY_AUTH] = TO(HANDED_OVER) | TO(CONNECT) | TO(SEND) | TO(ANSWERED) | TO(ABORTED),
	[PROXY_HANDED_OVER] = 0,
	[PROXY_CONNECT] = TO(SEND) | TO(ANSWERED) | TO(ABORTED),
	[PROXY_SEND] = TO(RELAY) | TO(CONNECT) | TO(ANSWERED) | TO(ABORTED),
	[PROXY_RELAY] = TO(ANSWERED) | TO(ABORTED),
	[PROXY_ANSWERED] = TO(ABORTED),
	[PROXY_ABORTED] = 0,
};

static void move(struct proxy_exchange *p, enum proxy_state to)
{
	require(MOVES[p->state] & 1U << to);
	p->state = to;
}

/* --- Endings ---------------------------------------------------------------------------------- */

/* Cancel what the exchange waits for. */
static void release(struct proxy_exchange *p)
{
	authorization_cancel(&p->authorization);
	if (p->call)
		upstream_cancel(p->call);
	p->call = NULL;
}

static void reply_problem(struct proxy_exchange *p, struct problem *problem)
{
	release(p);
	move(p, PROXY_ANSWERED);
	proxy_respond_problem(p, problem);
}

/* `detail` NULL: the code's own text. */
static void reply_error(struct proxy_exchange *p, enum err_code code, const char *detail)
{
	struct problem problem = {.code = code, .detail = detail};
	reply_problem(p, &problem);
}

/* Reply with a problem, or close the client's connection when the response has started. */
static void fail(struct proxy_exchange *p, enum err_code code, const char *detail)
{
	if (p->state != PROXY_RELAY) {
		reply_error(p, code, detail);
		return;
	}
	release(p);
	move(p, PROXY_ABORTED);
	p->code = code;
	p->client->respond_abort(p->x);
}

/* --- The call of the service ------------------------------------------------------------------ */

/* Send a piece of content, preceded by the head if it was not sent before. An empty piece of
 * chunked content ends it. Returns true when the service's queue is full. */
static bool call_send(struct proxy_exchange *p, const char *data, size_t length)
{
	uv_buf_t bufs[4];
	unsigned count = 0;
	char size[24];
	bool is_chunked = p->has_content && p->x->head.is_chunked;
	if (!p->is_head_sent)
		bufs[count++] = uv_buf_init(p->head.data, (unsigned)p->head.length);
	if (is_chunked) {
		int digits = snprintf(size, sizeof(size), "%zx\r\n", length);
		bufs[count++] = uv_buf_init(size, (unsigned)digits);
	}
	if (length > 0)
		bufs[count++] = uv_buf_init((char *)data, (unsigned)length);
	if (is_chunked)
		bufs[count++] = uv_buf_init("\r\n", 2);
	p->is_head_sent = true;
	p->is_content_gone |= length > 0 && data != p->held;
	return count > 0 && upstream_send(p->call, bufs, count);
}

/* Send the end of the content, which was held back. */
static void call_send_end(struct proxy_exchange *p)
{
	if (p->held_length > 0 || !p->x->head.is_chunked)
		call_send(p, p->held, p->held_length);
	if (p->x->head.is_chunked)
		call_send(p, NULL, 0);
	upstream_sent(p->call);
}

/* The call has a connection. The head of a request with content is sent with its first piece. */
static void on_ready(void *user)
{
	struct proxy_exchange *p = user;
	move(p, PROXY_SEND);
	if (!p->has_content) {
		call_send(p, NULL, 0);
		upstream_sent(p->call);
	} else if (!p->is_complete) {
		p->client->content_resume(p->x);
	} else if (p->is_authorized) { /* a retry of a request whose content was all held back */
		call_send_end(p);
	}
}

static void on_answer_content(void *user, const char *data, size_t length)
{
	struct proxy_exchange *p = user;
	if (p->client->respond_content(p->x, data, length))
		upstream_pause(p->call);
}

static void on_answer_end(void *user)
{
	struct proxy_exchange *p = user;
	p->call = NULL;
	authorization_cancel(
		&p->authorization); /* the service did not wait for the whole content */
	move(p, PROXY_ANSWERED);
	p->client->respond_end(p->x);
}

static void on_call_drained(void *user)
{
	struct proxy_exchange *p = user;
	p->client->content_resume(p->x);
}

static const struct upstream_handler UPSTREAM_HANDLER;

static void call_start(struct proxy_exchange *p, bool is_fresh)
{
	struct upstream *service = p->proxy->parts.services[p->match.op->service];
	bool is_ready;
	if (!service) {
		reply_error(p, ERR_UNAVAILABLE, "the service is not configured");
		return;
	}
	p->is_head_sent = false;
	p->call_started_us = time_monotonic_us();
	p->call = upstream_call(service, p->x->arena, &UPSTREAM_HANDLER, p, p->x->head.is_head,
	                        is_fresh, &is_ready);
	if (is_ready) {
		on_ready(p);
		return;
	}
	move(p, PROXY_CONNECT);
	if (p->has_content)
		p->client->content_pause(p->x);
}

/* Whether the request changes nothing, so that it may be sent twice. */
static bool is_safe(const struct proxy_exchange *p)
{
	return http_method_is_safe(p->x->head.method) || p->match.op->flags & API_READS;
}

/* Whether to send a request again whose connection broke before the answer (RFC 9110 section 9.2.2,
 * RFC 9112 section 9.3.1). Its content must still be here, as it is when it came in one piece.
 *
 *   has_sent  what is known                                             sent again
 *   false     Nothing was done: the socket accepted no byte, or the     any request, until
 *             answer was 408 (the service was closing the connection)   UNSENT_MAX connections
 *             or 421 (the address is another process's now).            have failed
 *   true      The service may have read the request. Neither the send   a safe request, once
 *             buffer nor an acknowledgment or a reset tells.
 *
 * A request that changes something might be done twice; a repeated DELETE would be answered 404. A
 * safe one is sent a second time, since a service that restarts closes its connections, but not a
 * third time, since the request itself may be what ends the service. */
static bool is_retried(struct proxy_exchange *p, const struct upstream_failure *failure)
{
	if (failure->code != ERR_UNAVAILABLE || failure->has_answered || p->is_content_gone)
		return false;
	if (failure->has_sent)
		return is_safe(p) && p->sent_count++ == 0;
	return failure->has_connected && ++p->unsent_count < UNSENT_MAX;
}

static void retry(struct proxy_exchange *p)
{
	p->reason = NULL;
	proxy_report_retry(p);
	call_start(p, true);
}

static void on_call_failed(void *user, const struct upstream_failure *failure)
{
	struct proxy_exchange *p = user;
	enum err_code code = failure->code;
	p->call = NULL;
	if (is_retried(p, failure)) {
		retry(p);
		return;
	}
	p->reason = failure->reason;
	if (code == ERR_UNAVAILABLE && failure->has_sent && !is_safe(p))
		code = ERR_UNCERTAIN;
	fail(p, code, code == ERR_UNCERTAIN ? NULL : failure->reason);
}

static void on_answer(void *user, const struct upstream_answer *answer)
{
	static const struct upstream_failure CLOSED = {
		.code = ERR_UNAVAILABLE,
		.has_connected = true,
		.reason = "the service closed the connection",
	};
	static const struct upstream_failure MISDIRECTED = {
		.code = ERR_UNAVAILABLE,
		.has_connected = true,
		.reason = "the service does not know this gateway's secret",
	};
	struct proxy_exchange *p = user;
	enum err_code unhandled = http_unhandled_code(answer->status, answer->content_length);
	if (unhandled == ERR_UNAVAILABLE) {
		upstream_cancel(p->call);
		on_call_failed(p, &CLOSED);
		return;
	}
	if (unhandled == ERR_MISDIRECTED) {
		upstream_misdirected(p->call);
		on_call_failed(p, &MISDIRECTED);
		return;
	}
	p->answer_us = time_monotonic_us() - p->call_started_us;
	move(p, PROXY_RELAY);
	proxy_respond_answer(p, answer);
}

static const struct upstream_handler UPSTREAM_HANDLER = {
	.on_ready = on_ready,
	.on_answer = on_answer,
	.on_content = on_answer_content,
	.on_end = on_answer_end,
	.on_drained = on_call_drained,
	.on_failed = on_call_failed,
};

/* --- Checks ----------------------------------------------------------------------------------- */

/* The exchange belongs to the operation from here on: p->x is not used any more. */
static void hand_over(struct proxy_exchange *p)
{
	struct http_exchange *x = p->x;
	struct http_field *fields = arena_array(x->arena, PROXY_ADDED_MAX, sizeof(*fields));
	const struct local_request request = {
		.worker = p->proxy->parts.worker,
		.usage = p->proxy->parts.usage,
		.match = &p->match,
		.request_id = p->request_id,
		.fields = fields,
		.field_count = proxy_added_fields(p, fields),
		.is_complete = p->is_complete,
	};
	move(p, PROXY_HANDED_OVER);
	p->x = NULL;
	local_start(x, &request, &p->authorization);
}

/* The caller may use the operation: run it here or pass the request on. */
static void dispatch(struct proxy_exchange *p)
{
	const struct api_op *op = p->match.op;
	const struct http_head *head = &p->x->head;
	size_t content_max = MAX_OF(op->body_max_bytes, DROPPED_MAX_BYTES);
	if (head->content_length > (int64_t)content_max) {
		reply_error(p, ERR_TOO_LARGE, NULL);
	} else if (op->service == API_GATEWAY) {
		hand_over(p);
	} else if (!p->proxy->parts.signers[op->service]) {
		reply_error(p, ERR_UNAVAILABLE, "the service is not configured");
	} else {
		p->has_content = head->has_content && op->body_max_bytes > 0;
		p->call_span = span_begin(p->x->arena, SPAN_CLIENT, p->request_id, &p->traceparent);
		proxy_compose_head(p);
		call_start(p, false);
	}
}

static void reply_rate_limited(struct proxy_exchange *p)
{
	bool is_open = p->match.op->flags & API_OPEN;
	struct problem problem = {
		.code = ERR_RATE_LIMITED,
		.detail = arena_printf(p->x->arena,
	                               "more than %" PRId64 " requests a second %s this %s",
	                               p->rate.limit, is_open ? "from" : "with", p->rate.policy),
		.retry_after_s = (unsigned)p->rate.retry_s,
	};
	reply_problem(p, &problem);
}

/* An operation that needs no key: check the rate limit of the client. */
static void admit_open(struct proxy_exchange *p)
{
	p->rate = rate_limits_take_open(p->proxy->parts.limits, p->x->peer, time_monotonic_us());
	if (p->rate.limit > 0 && !p->rate.is_allowed)
		reply_rate_limited(p);
	else
		dispatch(p);
}

/* A caller who may not use the operation is noted, where it would have changed the team. */
static void refuse(struct proxy_exchange *p, struct problem *problem)
{
	const struct audit_refusal refusal = {
		.worker = p->proxy->parts.worker,
		.request_id = p->request_id,
		.match = &p->match,
		.head = &p->x->head,
		.peer = p->x->peer,
		.caller = &p->authorization.caller,
	};
	if (p->authorization.has_caller)
		audit_refused(&refusal);
	reply_problem(p, problem);
}

/* A valid key takes from its rate limits, also when it may not use the operation. */
static void decide(struct proxy_exchange *p, struct problem *problem)
{
	const struct identity *caller = &p->authorization.caller;
	if (p->authorization.has_caller)
		p->rate = rate_limits_take(p->proxy->parts.limits, &caller->key_id,
		                           &caller->account, time_monotonic_us());
	if (p->rate.limit > 0 && !p->rate.is_allowed)
		reply_rate_limited(p);
	else if (problem)
		refuse(p, problem);
	else
		dispatch(p);
}

static void on_authorized(void *user, struct problem *problem)
{
	struct proxy_exchange *p = user;
	struct http_exchange *x = p->x;
	bool was_paused = p->is_paused;
	p->is_paused = false;
	decide(p, problem);
	/* Content that goes to the service stays paused until there is a connection. */
	if (was_paused && !(p->state == PROXY_CONNECT && p->has_content))
		p->client->content_resume(x);
}

static void authenticate(struct proxy_exchange *p)
{
	struct http_exchange *x = p->x;
	move(p, PROXY_AUTH);
	authorization_check(&p->authorization, on_authorized, p);
	if (p->state == PROXY_AUTH && x->head.has_content) {
		p->is_paused = true;
		p->client->content_pause(x);
	}
}

/* --- The complete request --------------------------------------------------------------------- */

static bool is_calling(const struct proxy_exchange *p)
{
	return p->state == PROXY_SEND || p->state == PROXY_RELAY;
}

/* The request is complete and its caller may make it. Without a connection (CONNECT), on_ready()
 * sends the end. */
static void finish(struct proxy_exchange *p)
{
	p->is_authorized = true;
	if (is_calling(p))
		call_send_end(p);
}

/* Once the service has answered, it has decided without the end of the content. */
static void on_authorized_again(void *user, struct problem *problem)
{
	struct proxy_exchange *p = user;
	if (!problem)
		finish(p);
	else if (p->state != PROXY_RELAY)
		reply_problem(p, problem);
}

/* --- The client's events ---------------------------------------------------------------------- */

/* Set the client's address, for logs and for the service, and the scheme that it used. */
static void find_client(struct proxy_exchange *p)
{
	struct http_exchange *x = p->x;
	struct forwarded from = {x->peer, x->scheme};
	if (p->proxy->parts.trusted)
		from = forwarded_read(p->proxy->parts.trusted, x->arena, &x->head, from);
	x->peer = from.client;
	x->scheme = from.scheme;
}

static bool is_from_other_page(const struct proxy_exchange *p)
{
	return p->match.op->flags & API_PROTOCOL && p->proxy->parts.origins &&
	       !origin_is_allowed(p->proxy->parts.origins, &p->x->head);
}

/* The functions of the server, for an exchange of a connection. */
static const struct proxy_client CONNECTION = {
	.content_pause = http_content_pause,
	.content_resume = http_content_resume,
	.respond_start = http_respond_start,
	.respond_content = http_respond_content,
	.respond_end = http_respond_end,
	.respond_abort = http_respond_abort,
};

/* Send a file of the console. */
static void show_console(struct proxy_exchange *p)
{
	enum err_code code = console_respond(p->proxy->parts.console, p->x, p->request_id);
	struct problem problem = {.code = code};
	if (!code) {
		move(p, PROXY_ANSWERED);
		return;
	}
	if (code == ERR_METHOD)
		problem.allow = "GET, HEAD";
	else if (!p->proxy->parts.console)
		problem.detail = "this gateway was built without the console";
	reply_problem(p, &problem);
}

void proxy_head(struct proxy *proxy, struct http_exchange *x)
{
	proxy_request(proxy, x, &CONNECTION);
}

/* Send the client of a plain connection to HTTPS. */
static void redirect(struct proxy_exchange *p, const char *location)
{
	const struct http_field fields[] = {
		http_field_of("Location", location),
		http_field_of("X-Request-Id", p->request_id),
	};
	move(p, PROXY_ANSWERED);
	p->client->respond_start(p->x, 308, fields, ARRAY_LEN(fields), 0);
	p->client->respond_end(p->x);
}

void proxy_request(struct proxy *proxy, struct http_exchange *x, const struct proxy_client *client)
{
	const struct http_head *head = &x->head;
	struct proxy_exchange *p = arena_new_of(x->arena, struct proxy_exchange);
	p->proxy = proxy;
	p->client = client;
	p->x = x;
	find_client(p);
	p->request_id = http_head_request_id(head, x->arena);
	if (trace_is_on()) {
		p->traceparent = http_head_get(head, "traceparent");
		p->span = span_begin(x->arena, SPAN_SERVER, p->request_id, &p->traceparent);
	}
	x->user = p;
	const char *location = https_location(proxy->parts.https_origin, x);
	if (location) {
		redirect(p, location);
		return;
	}
	if (proxy->parts.cors && cors_is_preflight(proxy->parts.cors, head)) {
		move(p, PROXY_ANSWERED);
		proxy_respond_preflight(p);
		return;
	}
	if (console_has_path(head)) {
		show_console(p);
		return;
	}
	enum err_code code = api_match(x->arena, head->method, head->method_length, head->target,
	                               head->path_length, &p->match);
	if (code) {
		struct problem problem = {.code = code, .allow = p->match.allow};
		reply_problem(p, &problem);
		return;
	}
	struct credential credential;
	code = proxy_credential(p, &credential);
	if (code) {
		reply_error(p, code, NULL);
		return;
	}
	authorization_init(&p->authorization, proxy->parts.keys, x, p->match.op, credential);
	if (p->match.op->flags & API_GONE) {
		reply_error(p, ERR_GONE, NULL);
	} else if (is_from_other_page(p)) {
		reply_error(p, ERR_FORBIDDEN,
		            "the Origin or the Host of the request is not allowed");
	} else if (p->match.op->flags & API_OPEN) {
		admit_open(p);
	} else {
		authenticate(p);
	}
}

/* Whether content of known length is complete with what was received. */
static bool is_last_piece(const struct proxy_exchange *p)
{
	return p->received_bytes == (uint64_t)p->x->head.content_length;
}

void proxy_content(struct http_exchange *x, const char *data, size_t length)
{
	struct proxy_exchange *p = x->user;
	if (p->state == PROXY_ANSWERED || p->state == PROXY_ABORTED)
		return;
	p->received_bytes += length;
	if (p->received_bytes > MAX_OF(p->match.op->body_max_bytes, DROPPED_MAX_BYTES)) {
		fail(p, ERR_TOO_LARGE, NULL);
	} else if (p->has_content && is_calling(p) && is_last_piece(p)) {
		p->held = arena_memdup(x->arena, data, length);
		p->held_length = length;
	} else if (p->has_content && is_calling(p) && call_send(p, data, length)) {
		p->client->content_pause(x);
	}
}

void proxy_end(struct http_exchange *x)
{
	struct proxy_exchange *p = x->user;
	p->is_complete = true;
	if (!p->has_content || !is_calling(p))
		return;
	if (p->match.op->flags & API_OPEN)
		finish(p);
	else
		authorization_check(&p->authorization, on_authorized_again, p);
}

void proxy_drained(struct http_exchange *x)
{
	struct proxy_exchange *p = x->user;
	if (p->state == PROXY_RELAY)
		upstream_resume(p->call);
}

void proxy_gone(struct http_exchange *x, enum err_code reason)
{
	struct proxy_exchange *p = x->user;
	release(p);
	if (p->state != PROXY_ABORTED)
		move(p, PROXY_ABORTED);
	p->code = reason;
}

void proxy_done(struct http_exchange *x)
{
	struct proxy_exchange *p = x->user;
	require(!authorization_is_pending(&p->authorization) && !p->call);
	proxy_report(p);
}

/* --- The proxy -------------------------------------------------------------------------------- */

struct proxy *proxy_new(const struct proxy_parts *parts)
{
	struct proxy *proxy = calloc(1, sizeof(*proxy));
	require(proxy);
	*proxy = (struct proxy){.parts = *parts, .signatures = signature_cache_new()};
	return proxy;
}

void proxy_free(struct proxy *proxy)
{
	if (!proxy)
		return;
	signature_cache_free(proxy->signatures);
	free(proxy);
}
