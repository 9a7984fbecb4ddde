/** The HTTP part of a request, and the memory that its body takes. */
#pragma once

#include "http/api.h"
#include "http/body.h"
#include "http/server.h"
#include "loop/request.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>

/** `rq->http`. In the arena of the request. */
struct http_call {
	struct http_exchange *exchange; /* NULL once the exchange is over */
	struct http_head head;
	const struct api_op *op;   /* NULL for an internal route */
	struct api_match match;    /* with the path parameters */
	struct http_body received; /* internal to http_request.c, as it collects the content */
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
	struct reply_stream *stream;   /* likewise; NULL: the reply is not made while it is sent */
	const char *problem_page_back; /* internal to problem_page.c; NULL: no page */
	/* idempotency.h; NULL: none is held */
	struct reservation *reservation;
};

/** Whether an operation is for callers with a key. NULL: an internal route. */
bool http_call_needs_key(const struct api_op *op);

/** Count the memory that a handler needs to read the JSON of the body, of `length` bytes and
 * json_values_max(), until the request is freed. Raises ERR_TOO_LARGE: more than BODY_MEMORY;
 * ERR_UNAVAILABLE or ERR_RATE_LIMITED as http_request_content(). */
void http_call_take_json(struct request *rq, size_t length, size_t values);

/** The same, but fails: also with ERR_TOO_LARGE, ERR_UNAVAILABLE and ERR_RATE_LIMITED. */
enum err_code http_call_take_json_try(struct request *rq, size_t length,
                                      size_t values) attr_must_use;

/** What a client reads when http_body_add() has returned `code`, ERR_UNAVAILABLE or
 * ERR_RATE_LIMITED, because a budget is used up. */
struct problem http_call_full_problem(const struct request *rq, enum err_code code);

/** Raise it. */
attr_noreturn void http_call_raise_full(struct request *rq, enum err_code code);
