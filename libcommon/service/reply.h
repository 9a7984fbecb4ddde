/** The answer of a handler, and the answer that was chosen while it waits to be sent. */
#pragma once

#include "http/server.h"
#include "loop/request.h"

#include <yyjson.h>

#include <stddef.h>
#include <stdint.h>

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

/** Reply 202 with a task's JSON (as the SQL function task_json() makes it) and `status_url`. */
void reply_task(struct request *rq, const char *task_json, const char *status_url);

/* The rest is for the request layer. */

#define REPLY_FIELDS_MAX 12

struct reply {
	int status;       /* 0: none was chosen yet */
	const char *type; /* Content-Type */
	const char *body;
	size_t length;
	struct http_field fields[REPLY_FIELDS_MAX];
	size_t field_count;
};

/** The request's reply, made empty on first use. */
struct reply *reply_of(struct request *rq);

/** Turn rq->problem into the reply, dropping what was chosen. */
void reply_problem(struct request *rq);

/** Send the reply over the exchange. */
void reply_send(struct request *rq);
