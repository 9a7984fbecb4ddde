/** The life of a request, from an HTTP exchange that is matched and authenticated to a handler and
 * back: collects the body, runs the handler in a fiber, sends its reply.
 *
 * Called by the listener of a service (http_service.h), and by the gateway for the operations that
 * it answers itself. Handlers use input.h and reply.h instead of this header.
 */
#pragma once

#include "http/api.h"
#include "http/server.h"
#include "loop/request.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>

/** The HTTP part of a request, `rq->http`. In the arena of the request. */
struct http_call {
	struct http_exchange *exchange; /* NULL once the exchange is over */
	struct http_head head;
	const struct api_op *op; /* NULL for an internal route */
	struct api_match match;  /* with the path parameters */
	/* The whole content without its coding (content_coding.h), NUL-terminated; "" when there is
	 * none. */
	const char *body;
	size_t body_length;
	yyjson_val *json;       /* the parsed body, an object; NULL: no body row was declared */
	const char *body_json;  /* see request_body_json() */
	size_t body_json_count; /* members of body_json */
	struct ignored_fields *ignored;  /* internal to ignored_fields.c */
	struct left_out *left_out;       /* internal to left_out.c */
	bool is_input_read;              /* by request_input() */
	const struct http_field *fields; /* added to every reply, also to problems */
	size_t field_count;
	struct reply *reply;           /* internal to reply.c */
	struct reply_sending *sending; /* internal to reply_send.c */
	/* idempotency.h; NULL: none is held */
	struct reservation *reservation;
};

/** Make the request of an exchange that has been matched and authenticated. Copies `match` and
 * `caller` (NULL: no identity); takes the exchange's arena. `match->op` is NULL for an internal
 * route. The caller's http_handler passes its callbacks on to the functions below. */
struct request *http_request_new(struct worker *worker, struct http_exchange *exchange,
                                 const struct api_match *match, const struct identity *caller,
                                 const char *request_id, request_fn *handle, size_t body_max_bytes);

/** For on_content: append to the body. Replies and drops the rest of the body: 413 over
 * body_max_bytes; 503 when the bodies of all requests exceed BODY_MEMORY, 429 when those of the
 * account exceed its share, or those of all requests without a key theirs. */
void http_request_content(struct request *rq, const char *data, size_t length);

/** Count the memory that a handler needs to read the JSON of the body, of `length` bytes and
 * json_values_max(), until the request is freed. Raises ERR_TOO_LARGE: more than BODY_MEMORY;
 * ERR_UNAVAILABLE or ERR_RATE_LIMITED as http_request_content(). */
void http_request_take_json(struct request *rq, size_t length, size_t values);

/** Raise what http_body_add() has returned because a budget is used up. */
attr_noreturn void http_request_raise_full(struct request *rq, enum err_code code);

/** For on_end: the body is complete, start the handler; REQUEST_TIMEOUT begins here. A handler that
 * fails with ERR_CONTENTION, and whose request has no effects so far, is run again a few times,
 * from its beginning. Replies 503 when 16,384 requests, divided evenly among the workers, run
 * already in the process. */
void http_request_end(struct request *rq);

/** For on_drained: send more of the reply. */
void http_request_drained(struct request *rq);

/** For on_gone: the client has disconnected. Cancels the handler with ERR_CLIENT_GONE. */
void http_request_gone(struct request *rq, enum err_code reason);

/** For on_done: the exchange is over and is not used again. Frees the request, now or when its
 * fiber and the members of its group have ended. */
void http_request_done(struct request *rq);

/** Reply a problem without running the handler. `detail` NULL: the default text of `code`. */
void http_request_refuse(struct request *rq, enum err_code code, const char *detail);

/** The `refuse` member of every struct http_handler: writes a problem body. */
void http_refuse_problem(struct arena *arena, enum err_code code, const char *detail,
                         const char *request_id, const char **ret_body, size_t *ret_length);

/** Set the limits for the bodies and for the large answers of all requests together. Once, before
 * threads. */
void http_request_set_limits(size_t body_memory_bytes, size_t answer_memory_bytes);
