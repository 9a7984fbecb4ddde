#include "proxy/local.h"

#include "base/arena.h"
#include "base/base.h"
#include "proxy/proxy.h"

/* In the arena that the operation has taken. */
struct local_exchange {
	struct local_request request;
	struct authorization *authorization;
	const struct proxy_hooks *hooks;
	void *operation;
	bool has_content;
};

static bool needs_key(const struct local_exchange *local)
{
	return !(local->request.match->op->flags & API_OPEN);
}

static void end(struct local_exchange *local)
{
	local->hooks->local_end(local->operation,
	                        needs_key(local) ? &local->authorization->caller : NULL);
}

static void on_authorized_again(void *user, struct problem *problem)
{
	struct local_exchange *local = user;
	if (problem)
		local->hooks->local_refuse(local->operation, problem);
	else
		end(local);
}

static void on_head(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	const struct local_request *request = &local->request;
	local->operation =
		local->hooks->local_open(local->authorization->context, x, request->match,
	                                 &local->authorization->caller, request->request_id,
	                                 request->fields, request->field_count);
	x->user = local;
	if (request->is_complete)
		end(local);
}

static void on_content(struct http_exchange *x, const char *data, size_t length)
{
	struct local_exchange *local = x->user;
	local->hooks->local_content(local->operation, data, length);
}

static void on_end(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	if (local->has_content && needs_key(local))
		authorization_check(local->authorization, on_authorized_again, local);
	else
		end(local);
}

static void on_drained(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	local->hooks->local_drained(local->operation);
}

static void on_gone(struct http_exchange *x, enum err_code reason)
{
	struct local_exchange *local = x->user;
	authorization_cancel(local->authorization);
	local->hooks->local_gone(local->operation, reason);
}

static void on_done(struct http_exchange *x)
{
	struct local_exchange *local = x->user;
	require(!authorization_is_pending(local->authorization));
	local->hooks->local_done(local->operation);
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
		.hooks = authorization->hooks,
		.has_content = x->head.has_content,
	};
	x->user = local;
	http_exchange_hand_over(x, &HANDLER);
}
