/** What HTTP adds to a request, and how an exchange becomes one: for the listeners, not for handlers
 * (input.h, reply.h). */
#pragma once

#include "http/api.h"
#include "http/server.h"
#include "loop/request.h"

#include <yyjson.h>

#include <stddef.h>

/** What HTTP adds to a request. */
struct http_call {
	struct http_exchange *exchange; /* NULL once the client has gone */
	struct http_head head;
	const struct api_op *op; /* NULL for an /internal/ route */
	struct api_match match;
	const char *body; /* whole content, NUL-terminated; "" when there is none */
	size_t body_length;
	yyjson_val *json;      /* the parsed body, an object; NULL when none was declared */
	const char *body_json; /* see request_body_json() */
	size_t kept_count;     /* its members */
	const struct http_field *fields; /* that go into the reply, whatever it is */
	size_t field_count;
	struct reply *reply; /* internal to reply.c */
};

/** A request of an exchange that is matched and authenticated already: `match` and `caller` are
 * copied. The request takes the exchange's arena. `match`'s operation may be NULL for an internal
 * route. Hand the exchange's callbacks on to the functions below. */
struct request *http_request_new(struct worker *worker, struct http_exchange *exchange,
                                 const struct api_match *match, const struct identity *caller,
                                 const char *request_id, request_fn *handle, size_t body_max_bytes);

/** A piece of content. Replies, and drops the rest: 413 over body_max_bytes, 503 when the bodies of
 * all requests are more than BODY_MEMORY, 408 past the request's deadline. */
void http_request_content(struct request *rq, const char *data, size_t length);

/** The content is complete: the handler starts. 503 where 16,384 requests of the process, spread
 * evenly over its workers, run already. */
void http_request_end(struct request *rq);

/** The client has gone. */
void http_request_gone(struct request *rq, enum err_code reason);

/** The exchange is over: it must not be touched any more. Frees the request, now or when its fiber
 * has ended. */
void http_request_done(struct request *rq);

/** Reply a problem without running a handler. */
void http_request_refuse(struct request *rq, enum err_code code, const char *detail);

/** The `refuse` of struct http_handler: a problem body. */
void http_refuse_problem(struct arena *arena, enum err_code code, const char *detail,
                         const char *request_id, const char **ret_body, size_t *ret_length);

/** Register the metrics of HTTP requests; `body_memory_bytes` is for the bodies of all of them.
 * Once, before threads. */
void http_request_register(size_t body_memory_bytes);
