/* One exchange.
 *
 *     MATCH --> AUTH --> CONNECT --> SEND --> RELAY --> ANSWERED
 *                |          ^          |
 *                v          +-- retry -+
 *              LOCAL
 *
 * A problem is replied (to ANSWERED) from MATCH, AUTH, CONNECT and SEND; an operation without a key
 * goes past AUTH; a call whose connection is at hand goes past CONNECT. To GONE, when the client
 * goes away or the answer breaks off, from every state but MATCH and LOCAL: MOVES has it all.
 *
 *   state     waits for                     holds  the client's content
 *   MATCH     nothing                       -      -
 *   AUTH      the key's owner               wait   paused
 *   LOCAL     the gateway's own operation   local  goes to it
 *   CONNECT   a connection to the service   call   paused
 *   SEND      the service's answer          call   goes on as it comes; paused while the service
 *                                                  is full
 *   RELAY     the end of the answer         call   the same
 *   ANSWERED  the response to go out        -      dropped
 *   GONE      on_done                       -      dropped
 *
 * Rate, scope and operations that do not exist are decided between AUTH and CONNECT. From RELAY on
 * the response is under way, and what breaks it closes the client's connection.
 */
#include "base/base.h"
#include "proxy/proxy_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define DROPPED_MAX_BYTES (1 << 20) /* of content that an operation does not read */

#define TO(state) (1U << PROXY_##state)

static const unsigned MOVES[PROXY_STATES] = {
	[PROXY_MATCH] = TO(AUTH) | TO(LOCAL) | TO(CONNECT) | TO(SEND) | TO(ANSWERED),
	[PROXY_AUTH] = TO(LOCAL) | TO(CONNECT) | TO(SEND) | TO(ANSWERED) | TO(GONE),
	[PROXY_LOCAL] = 0, /* the other layer has it to the end */
	[PROXY_CONNECT] = TO(SEND) | TO(ANSWERED) | TO(GONE),
	[PROXY_SEND] = TO(RELAY) | TO(CONNECT) | TO(ANSWERED) | TO(GONE),
	[PROXY_RELAY] = TO(ANSWERED) | TO(GONE),
	[PROXY_ANSWERED] = TO(GONE),
	[PROXY_GONE] = 0,
};

void proxy_move(struct proxied *p, enum proxy_state to)
{
	require((MOVES[p->state] & 1U << to) != 0);
	p->state = to;
}

struct proxy *proxy_new(const struct identity_signer *signer,
                        struct upstream *const services[API_SERVICE_COUNT],
                        const struct proxy_hooks *hooks, void *context)
{
	struct proxy *proxy = calloc(1, sizeof(*proxy));
	require(proxy != NULL);
	*proxy = (struct proxy){
		.signatures = signatures_new(signer),
		.services = services,
		.hooks = hooks,
		.context = context,
	};
	return proxy;
}

void proxy_trust(struct proxy *proxy, const struct trusted *trusted)
{
	proxy->trusted = trusted;
}

void proxy_free(struct proxy *proxy)
{
	if (proxy == NULL)
		return;
	signatures_free(proxy->signatures);
	free(proxy);
}

/* Let go of whatever the state holds. */
static void release(struct proxied *p)
{
	if (p->wait != NULL)
		p->proxy->hooks->auth_cancel(p->wait);
	if (p->call != NULL)
		upstream_cancel(p->call);
	p->wait = NULL;
	p->call = NULL;
}

static void answer_problem(struct proxied *p, struct problem *problem)
{
	release(p);
	proxy_move(p, PROXY_ANSWERED);
	proxy_problem(p, problem);
}

void proxy_answer_code(struct proxied *p, enum err_code code, const char *detail)
{
	struct problem problem = {.code = code, .detail = detail};
	answer_problem(p, &problem);
}

/* The response is under way and cannot be finished. */
static void break_off(struct proxied *p, enum err_code code)
{
	release(p);
	proxy_move(p, PROXY_GONE);
	p->code = code;
	http_respond_abort(p->x);
}

void proxy_fail(struct proxied *p, enum err_code code, const char *detail)
{
	if (p->state == PROXY_RELAY)
		break_off(p, code);
	else
		proxy_answer_code(p, code, detail);
}

static void open_local(struct proxied *p)
{
	struct http_field *fields = arena_array(p->x->arena, 2, sizeof(*fields));
	size_t field_count = proxy_rate_fields(p, fields);
	proxy_move(p, PROXY_LOCAL);
	struct http_exchange *x = p->x;
	void *local = p->proxy->hooks->local_open(p->proxy->context, x, &p->match, &p->caller,
	                                          p->request_id, fields, field_count);
	p->local = local;
	x->user = p;
	if (p->is_complete)
		p->proxy->hooks->local_end(local);
}

/* The caller may do this: pass it on. */
static void admit(struct proxied *p)
{
	const struct api_op *op = p->match.op;
	const struct http_head *head = &p->x->head;
	size_t content_max = MAX_OF(op->body_max_bytes, DROPPED_MAX_BYTES);
	if ((op->flags & API_NOT_BUILT) != 0) {
		proxy_answer_code(p, ERR_NOT_BUILT, NULL);
	} else if (head->content_length > (int64_t)content_max) {
		proxy_answer_code(p, ERR_TOO_LARGE, NULL);
	} else if (op->service == API_GATEWAY) {
		open_local(p);
	} else {
		p->has_content = head->has_content && op->body_max_bytes > 0;
		proxy_call(p);
	}
}

static void refuse_rate(struct proxied *p)
{
	struct problem problem = {
		.code = ERR_RATE_LIMITED,
		.detail = arena_printf(p->x->arena,
	                               "more than %" PRId64 " requests a second with this key",
	                               p->rate.limit),
		.retry_after_s = (unsigned)p->rate.retry_s,
	};
	answer_problem(p, &problem);
}

/* What the caller is known to be allows. */
static void authorize(struct proxied *p, const struct identity *caller)
{
	const struct api_op *op = p->match.op;
	p->caller = *caller;
	p->caller.repo = arena_strdup(p->x->arena, caller->repo);
	p->caller.interest = arena_strdup(p->x->arena, caller->interest);
	if (p->proxy->hooks->rate != NULL)
		p->rate = p->proxy->hooks->rate(p->proxy->context, &caller->key_id);
	if (p->rate.limit > 0 && !p->rate.is_allowed) {
		refuse_rate(p);
	} else if ((caller->scopes & op->scope) != op->scope) {
		struct problem problem = {
			.code = ERR_SCOPE,
			.detail = arena_printf(p->x->arena, "the key lacks the scope %s",
		                               op->scope_name),
			.scope = op->scope_name,
		};
		answer_problem(p, &problem);
	} else {
		admit(p);
	}
}

static void on_auth(void *context, enum err_code code, const struct identity *caller)
{
	struct proxied *p = context;
	p->wait = NULL;
	if (code != ERR_NONE) {
		proxy_answer_code(p, code, NULL);
		return;
	}
	authorize(p, caller);
	bool is_early = p->state == PROXY_CONNECT && p->has_content;
	if (!is_early)
		http_content_resume(p->x);
}

static void authenticate(struct proxied *p)
{
	struct identity caller;
	const char *bearer = proxy_bearer(&p->x->head);
	proxy_move(p, PROXY_AUTH);
	if (bearer == NULL) {
		proxy_answer_code(p, ERR_UNAUTHENTICATED, NULL);
		return;
	}
	enum err_code code =
		p->proxy->hooks->auth(p->proxy->context, bearer, &caller, &p->wait, on_auth, p);
	if (p->wait != NULL && p->x->head.has_content)
		http_content_pause(p->x);
	if (p->wait != NULL)
		return;
	if (code != ERR_NONE)
		proxy_answer_code(p, code, NULL);
	else
		authorize(p, &caller);
}

/* Who is at the other end, for the logs and for the service. */
static void recognize(struct proxied *p)
{
	struct http_exchange *x = p->x;
	struct forwarded from = {x->peer, "http"};
	if (p->proxy->trusted != NULL)
		from = forwarded_read(p->proxy->trusted, x->arena, &x->head, x->peer);
	x->peer = from.client;
	p->scheme = from.scheme;
}

void proxy_head(struct proxy *proxy, struct http_exchange *x)
{
	const struct http_head *head = &x->head;
	struct proxied *p = arena_new_of(x->arena, struct proxied);
	p->proxy = proxy;
	p->x = x;
	recognize(p);
	p->request_id = http_head_request_id(head, x->arena);
	x->user = p;
	enum err_code code = api_match(x->arena, head->method, head->method_length, head->target,
	                               head->path_length, &p->match);
	if (code != ERR_NONE) {
		struct problem problem = {.code = code, .allow = p->match.allow};
		answer_problem(p, &problem);
	} else if ((p->match.op->flags & API_GONE) != 0) {
		proxy_answer_code(p, ERR_GONE, NULL);
	} else if ((p->match.op->flags & API_OPEN) != 0) {
		admit(p);
	} else {
		authenticate(p);
	}
}

static bool is_calling(const struct proxied *p)
{
	return p->state == PROXY_SEND || p->state == PROXY_RELAY;
}

void proxy_content(struct http_exchange *x, const char *data, size_t length)
{
	struct proxied *p = x->user;
	if (p->state == PROXY_LOCAL) {
		p->proxy->hooks->local_content(p->local, data, length);
		return;
	}
	if (p->state == PROXY_ANSWERED || p->state == PROXY_GONE)
		return;
	p->received_bytes += length;
	if (p->received_bytes > MAX_OF(p->match.op->body_max_bytes, DROPPED_MAX_BYTES))
		proxy_fail(p, ERR_TOO_LARGE, NULL);
	else if (p->has_content && is_calling(p) && proxy_call_content(p, data, length))
		http_content_pause(x);
}

void proxy_end(struct http_exchange *x)
{
	struct proxied *p = x->user;
	p->is_complete = true;
	if (p->state == PROXY_LOCAL) {
		p->proxy->hooks->local_end(p->local);
		return;
	}
	if (!p->has_content || !is_calling(p))
		return;
	proxy_call_end(p);
}

void proxy_drained(struct http_exchange *x)
{
	struct proxied *p = x->user;
	if (p->state == PROXY_RELAY)
		upstream_resume(p->call);
}

void proxy_gone(struct http_exchange *x, enum err_code reason)
{
	struct proxied *p = x->user;
	if (p->state == PROXY_LOCAL) {
		p->proxy->hooks->local_gone(p->local, reason);
		return;
	}
	release(p);
	if (p->state != PROXY_GONE)
		proxy_move(p, PROXY_GONE);
	p->code = reason;
}

void proxy_done(struct http_exchange *x)
{
	struct proxied *p = x->user;
	if (p->state == PROXY_LOCAL) {
		p->proxy->hooks->local_done(p->local);
		return;
	}
	require(p->wait == NULL && p->call == NULL);
	proxy_report(p);
}
