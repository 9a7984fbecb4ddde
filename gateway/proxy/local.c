#include "proxy/local.h"

#include "base/arena.h"
#include "base/base.h"
#include "request/http_request.h"
#include "request/http_service.h"

/* In the arena that the operation has taken. */
struct local_exchange {
	struct local_request request;
	struct authorization *authorization;
	struct request *rq;
	bool has_content;
	bool is_gone; /* the client is */
};

static bool needs_key(const struct local_exchange *local)
{
	return !(local->request.match->op->flags & API_OPEN);
}

static void end(struct local_exchange *local)
{
	if (needs_key(local))
		local->rq->caller = local->authorization->caller;
	http_request_end(local->rq);
}

static void on_authorized_again(void *user, struct problem *problem)
{
	struct local_exchange *local = user;
	if (problem)
		http_request_refuse(local->rq, problem);
	else
		end(local);
}

static void on_head(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	const struct local_request *request = &local->request;
	const struct api_op *op = request->match->op;
	local->rq = http_request_new(request->worker, x, request->match,
	                             &local->authorization->caller, x->peer, request->request_id,
	                             http_service_route(op), op->body_max_bytes);
	local->rq->http->fields = request->fields;
	local->rq->http->field_count = request->field_count;
	x->user = local;
	if (request->is_complete)
		end(local);
}

static void on_content(struct http_exchange *x, const char *data, size_t length)
{
	struct local_exchange *local = x->user;
	http_request_content(local->rq, data, length);
}

static void on_end(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	bool is_answered = x->status != 0;
	if (local->has_content && needs_key(local) && !is_answered)
		authorization_check(local->authorization, on_authorized_again, local);
	else
		end(local);
}

static void on_drained(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	http_request_drained(local->rq);
}

static void on_gone(struct http_exchange *x, enum err_code reason)
{
	struct local_exchange *local = x->user;
	local->is_gone = true;
	authorization_cancel(local->authorization);
	http_request_gone(local->rq, reason);
}

static void on_done(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	authorization_cancel(local->authorization);
	if (local->authorization->has_caller)
		key_usage_count(local->request.usage, &local->authorization->caller,
		                local->request.match->op,
		                local->is_gone ? err_info(ERR_CLIENT_GONE)->status : x->status);
	http_request_done(local->rq);
}

static const struct http_handler HANDLER = {
	.on_head = on_head,
	.on_content = on_content,
	.on_end = on_end,
	.on_drained = on_drained,
	.on_gone = on_gone,
	.on_done = on_done,
};

void local_start(struct http_exchange *x, const struct local_request *request,
                 struct authorization *authorization)
{
	struct local_exchange *local = arena_new_of(x->arena, struct local_exchange);
	*local = (struct local_exchange){
		.request = *request,
		.authorization = authorization,
		.has_content = x->head.has_content,
	};
	x->user = local;
	http_exchange_hand_over(x, &HANDLER);
}
