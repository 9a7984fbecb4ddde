#include "service/http_service.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "loop/request_list.h"
#include "loop/worker.h"
#include "service/http_request.h"
#include "service/process.h"

#include <stdio.h>
#include <string.h>

/* Set once by http_service_bind(), read by every worker. */
static request_fn *routes[API_ID_COUNT];

static bool takes_requests(const struct service *service, const struct api_op *op)
{
	return op->service == service->api && !(op->flags & (API_NOT_BUILT | API_GONE));
}

bool http_service_bind(const struct service *service)
{
	bool is_complete = true;
	for (const struct route *route = service->routes; route->handle; route++) {
		if (!takes_requests(service, api_op(route->id))) {
			fprintf(stderr, "%s: operation %s is not this service's\n", service->name,
			        api_op(route->id)->name);
			is_complete = false;
		}
		routes[route->id] = route->handle;
	}
	for (int id = 0; id < API_ID_COUNT; id++) {
		if (takes_requests(service, api_op(id)) && !routes[id]) {
			fprintf(stderr, "%s: operation %s has no handler\n", service->name,
			        api_op(id)->name);
			is_complete = false;
		}
	}
	return is_complete;
}

request_fn *http_service_route(const struct api_op *op)
{
	return routes[op->id];
}

static const struct internal_route *internal_route_of(const struct service *service,
                                                      const struct http_head *head)
{
	const struct internal_route *route = service->internal_routes;
	for (; route && route->method; route++)
		if (strcmp(route->method, head->method) == 0 &&
		    strlen(route->path) == head->path_length &&
		    strncmp(route->path, head->target, head->path_length) == 0)
			return route;
	return NULL;
}

/* Where one request goes: a handler, or the reason why not. */
struct destination {
	struct api_match match;
	request_fn *handle;
	size_t body_max_bytes;
	enum err_code code;
};

static struct destination find_public(const struct service *service, struct http_exchange *x)
{
	struct destination to = {0};
	const struct http_head *head = &x->head;
	const char *method = head->is_head ? "GET" : head->method;
	to.code = api_match(x->arena, method, strlen(method), head->target, head->path_length,
	                    &to.match);
	if (to.code)
		return to;
	const struct api_op *op = to.match.op;
	to.handle = op->service == service->api ? http_service_route(op) : NULL;
	to.body_max_bytes = op->body_max_bytes;
	if (!to.handle)
		to.code = op->service == service->api ? ERR_NOT_BUILT : ERR_NOT_FOUND;
	return to;
}

static struct destination find(const struct service *service, struct http_exchange *x,
                               const struct identity *caller)
{
	const struct internal_route *internal = internal_route_of(service, &x->head);
	if (!internal)
		return find_public(service, x);
	struct destination to = {.handle = internal->handle,
	                         .body_max_bytes = internal->body_max_bytes};
	to.code = caller->kind == KEY_SERVICE ? ERR_NONE : ERR_NOT_FOUND;
	return to;
}

/* The gateway checks scopes by the same table; a service checks again, so that a slip there is not
 * an open door. */
static enum err_code check_scope(const struct destination *to, const struct identity *caller)
{
	const struct api_op *op = to->match.op;
	return op && (caller->scopes & op->scope) != op->scope ? ERR_SCOPE : ERR_NONE;
}

static void on_head(struct http_exchange *x)
{
	struct worker *worker = http_server_context(x->server);
	struct process *process = worker->process;
	const char *signature = http_head_get(&x->head, IDENTITY_HEADER);
	struct identity caller = {0};
	struct destination to = {0};
	enum err_code code = ERR_UNAUTHENTICATED;
	if (signature)
		code = identity_verify(process->signer, x->arena, signature, time_now_ms(),
		                       &caller);
	if (!code) {
		to = find(process->service, x, &caller);
		code = to.code ? to.code : check_scope(&to, &caller);
	}
	const char *id = http_head_request_id(&x->head, x->arena);
	struct request *rq =
		http_request_new(worker, x, &to.match, &caller, id, to.handle, to.body_max_bytes);
	x->user = rq;
	rq->problem.allow = to.match.allow;
	if (code == ERR_SCOPE) {
		require(to.match.op);
		rq->problem.scope = to.match.op->scope_name;
	}
	if (code)
		http_request_refuse(rq, code, NULL);
	else if (!process->is_migrated)
		http_request_refuse(rq, ERR_UNAVAILABLE, "the database is not ready yet");
}

static void on_content(struct http_exchange *x, const char *data, size_t length)
{
	http_request_content(x->user, data, length);
}

static void on_end(struct http_exchange *x)
{
	http_request_end(x->user);
}

static void on_gone(struct http_exchange *x, enum err_code reason)
{
	http_request_gone(x->user, reason);
}

static void on_done(struct http_exchange *x)
{
	http_request_done(x->user);
}

const struct http_handler http_service_handler = {
	.on_head = on_head,
	.on_content = on_content,
	.on_end = on_end,
	.on_gone = on_gone,
	.on_done = on_done,
	.refuse = http_refuse_problem,
};
