#include "request/http_service.h"

#include "http/internal_api.h"
#include "loop/worker.h"
#include "operator/task_operations.h"
#include "request/access.h"
#include "request/http_request.h"
#include "service/process.h"
#include "service/service.h"

#include <stdio.h>
#include <string.h>

/* Handlers by operation. Set once by http_service_bind(), read by every worker. */
static request_fn *routes[API_ID_COUNT];
static request_fn *internal_routes[INTERNAL_ID_COUNT];

#define FOREIGN    "belongs to another service"
#define NO_HANDLER "has no handler"

static bool is_implemented_by(const struct service *service, const struct api_op *op)
{
	return op->service == service->api && !(op->flags & API_GONE);
}

static bool report_unbound(const struct service *service, const char *operation, const char *fault)
{
	fprintf(stderr, "%s: operation %s %s\n", service->name, operation, fault);
	return false;
}

static bool bind_public(const struct service *service)
{
	bool is_complete = true;
	for (const struct route *route = service->routes; route->handle; route++) {
		if (!is_implemented_by(service, api_op(route->id)))
			is_complete = report_unbound(service, api_op(route->id)->name, FOREIGN);
		routes[route->id] = route->handle;
	}
	for (int id = 0; id < API_ID_COUNT; id++)
		if (is_implemented_by(service, api_op(id)) && !routes[id])
			is_complete = report_unbound(service, api_op(id)->name, NO_HANDLER);
	return is_complete;
}

static bool bind_internal_routes(const struct service *service, const struct internal_route *route)
{
	bool is_complete = true;
	for (; route && route->handle; route++) {
		if (!internal_op_is_of(internal_op(route->id), service->api))
			is_complete =
				report_unbound(service, internal_op(route->id)->name, FOREIGN);
		internal_routes[route->id] = route->handle;
	}
	return is_complete;
}

static bool bind_internal(const struct service *service)
{
	bool is_complete = bind_internal_routes(service, service->internal_routes);
	if (service->api != API_GATEWAY)
		is_complete = bind_internal_routes(service, TASK_OPERATION_ROUTES) && is_complete;
	for (int id = 0; id < INTERNAL_ID_COUNT; id++)
		if (internal_op_is_of(internal_op(id), service->api) && !internal_routes[id])
			is_complete = report_unbound(service, internal_op(id)->name, NO_HANDLER);
	return is_complete;
}

bool http_service_bind(const struct service *service)
{
	bool is_public_complete = bind_public(service);
	return bind_internal(service) && is_public_complete;
}

request_fn *http_service_route(const struct api_op *op)
{
	return routes[op->id];
}

/* The operation of a request and its handler, or the code of the problem that it gets. */
struct destination {
	struct api_match match;             /* of a public operation */
	const struct internal_op *internal; /* NULL: a public operation */
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
		to.code = ERR_NOT_FOUND;
	return to;
}

static struct destination find_destination(const struct service *service, struct http_exchange *x)
{
	const struct http_head *head = &x->head;
	const struct internal_op *internal =
		internal_match(service->api, head->method, head->method_length, head->target,
	                       head->path_length);
	if (!internal)
		return find_public(service, x);
	return (struct destination){
		.internal = internal,
		.handle = internal_routes[internal->id],
		.body_max_bytes = internal->body_max_bytes,
	};
}

/* Whether the sender may use the operation, and its caller as well. The gateway has checked the
 * latter already, by the same table. The service checks it again, so that a mistake in the gateway
 * does not give access. */
static struct access check_access(const struct destination *to,
                                  const struct verified_sender *sender)
{
	if (to->internal)
		return access_check_internal(sender, to->internal);
	return access_check_public(sender, to->match.op);
}

static void on_head(struct http_exchange *x)
{
	struct worker *worker = http_server_context(x->server);
	struct process *process = worker->process;
	struct verified_sender sender = {0};
	struct destination to = {0};
	struct access access = access_authenticate(worker->verifier, x, &sender);
	if (!access.code) {
		to = find_destination(process->service, x);
		access.code = to.code;
	}
	if (!access.code)
		access = check_access(&to, &sender);
	const char *id = http_head_request_id(&x->head, x->arena);
	const char *client = http_head_get(&x->head, "X-Forwarded-For"); /* of the gateway */
	struct request *rq =
		http_request_new(worker, x, &to.match, &sender.caller, client ? client : x->peer,
	                         id, to.handle, to.body_max_bytes);
	x->user = rq;
	if (access.code)
		http_request_refuse(rq, &(struct problem){
						.code = access.code,
						.detail = access.detail,
						.scope = access.scope,
						.allow = to.match.allow,
					});
}

static void on_content(struct http_exchange *x, const char *data, size_t length)
{
	http_request_content(x->user, data, length);
}

static void on_end(struct http_exchange *x)
{
	http_request_end(x->user);
}

static void on_drained(struct http_exchange *x)
{
	http_request_drained(x->user);
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
	.on_drained = on_drained,
	.on_gone = on_gone,
	.on_done = on_done,
	.refuse = http_refuse_problem,
};
