/** A request: what a fiber works on, be it an HTTP exchange, a job or an event.
 *
 * It owns an arena, a deadline and an identity. Whatever suspends takes the request first. A
 * failure is raised: the fiber ends, and its one exit writes the problem reply (or the job's failed
 * attempt).
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/problem.h"
#include "http/api.h"
#include "http/server.h"
#include "loop/fiber.h"
#include "service/field.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker;
struct pg_transaction;

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

struct request {
	struct worker *worker;
	struct arena *arena;
	struct fiber *fiber;
	const char *id;          /* X-Request-Id */
	const char *traceparent; /* NULL: none came */
	struct identity caller;
	uint64_t deadline_ms;               /* time_monotonic_ms() at which it is cancelled */
	struct pg_transaction *transaction; /* NULL outside pg_begin() ... pg_commit() */
	struct problem problem;             /* why it was raised */
	struct http_call *http;             /* NULL for a job or an event */
	void *user;                         /* its module's own state */
	struct request_link *link;          /* internal to request.c */
};

typedef void request_fn(struct request *rq);

/** End the fiber with a failure; `detail` is one sentence for the client. Does not return. */
attr_noreturn void raise_error(struct request *rq, enum err_code code, const char *detail, ...)
	attr_printf(3, 4) attr_nonnull(1, 3);

/** Raise ERR_INVALID naming one field. */
attr_noreturn void raise_field(struct request *rq, const char *field, const char *message, ...)
	attr_printf(3, 4) attr_nonnull(1, 3);

/** Raise what was gathered in rq->problem with problem_add_field(), if anything was. */
void raise_if_faults(struct request *rq);

/** Suspend until woken; raises when cancelled (deadline, client gone). For modules that suspend. */
void request_wait(struct request *rq);

/** Milliseconds until the deadline, 0 when it has passed. */
uint64_t request_left_ms(const struct request *rq);

/** Work page by page, so that what a page leaves in memory is gone before the next: from begin on
 * rq->arena is a new one, which end frees, and puts the one before it back. Returns the one before:
 * copy into it what is to outlive the page. Pages may be nested. A raise in between leaves every
 * page: rq->arena is the request's own again when the request is done, and what was allocated in
 * the pages (the problem's detail) lives as long as the request. A transaction is begun and ended in
 * the same page; one that is open at its end is rolled back. */
struct arena *request_page_begin(struct request *rq);
void request_page_end(struct request *rq);

/** Decode and check the declared input into a new struct of `size` bytes; raises ERR_INVALID with
 * every fault. With body rows: ERR_MEDIA_TYPE when a body is there whose type is neither
 * application/json nor ends in +json, ERR_MALFORMED when it is not JSON, ERR_INVALID when it is not
 * an object; an absent body counts as `{}`. */
void *request_input_sized(struct request *rq, const struct field *fields, size_t size);
#define request_input(rq, type, fields) ((type *)request_input_sized((rq), (fields), sizeof(type)))

/** After request_input(): JSON text of an object with just the body members that the table declares
 * and the client sent, checked, text trimmed where declared, null where the client cleared it. What
 * INSERT and UPDATE statements read. */
const char *request_body_json(struct request *rq);

/** Raise ERR_INVALID unless the body named at least one declared member: for PUT and PATCH. */
void request_require_some(struct request *rq);

/** A request field (header) or query parameter, decoded; NULL: absent. */
const char *request_header(const struct request *rq, const char *name);
const char *request_query(const struct request *rq, const char *name);

/** Reply. One of these ends the handler's duty; a handler that returns without one, or calls a
 * second, is a bug. They copy nothing: texts live in the request's arena or for ever. */
void reply_json(struct request *rq, int status, const char *json);
void reply_json_length(struct request *rq, int status, const char *json, size_t length);
void reply_mut(struct request *rq, int status, yyjson_mut_doc *doc);

/** A page of a list: 200, the bare array, X-Total-Count, and Link with next and prev made from the
 * request's own target. */
void reply_page(struct request *rq, const char *json_array, int64_t total, int64_t limit,
                int64_t offset);

/** Add a field to the reply, before or after the above. Copies. */
void reply_header(struct request *rq, const char *name, const char *format, ...) attr_printf(3, 4);

/** Run `fn` in a fiber of its own for work that is nobody's request (an event, a job, a timer's): a
 * new arena, no identity; done (may be NULL) is called with the request still alive, then it is
 * freed. `timeout_ms` from now is its deadline. */
struct request *request_spawn(struct worker *worker, const char *id, uint64_t timeout_ms,
                              request_fn *fn, request_fn *done, void *user);
