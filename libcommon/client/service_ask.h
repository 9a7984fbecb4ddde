/** Asking another service for JSON. Its refusals are raised as they came, so that a client meets
 * one answer for one fault, whichever service found it. */
#pragma once

#include "client/service_call.h"
#include "http/internal_api.h"

#include <yyjson.h>

/** A member of a question; `text` NULL: it is left out. */
struct ask_member {
	const char *name, *text;
};

/** The JSON object of members that are texts; the last has a NULL name. In the request's arena. */
const char *ask_body(struct request *rq, const struct ask_member *members);
#define ASK_BODY(rq, ...) ask_body((rq), (const struct ask_member[]){__VA_ARGS__, {NULL, NULL}})

/** What a service answered. */
struct service_answer {
	enum err_code code;     /* ERR_NONE: the status is 200 */
	yyjson_val *json;       /* of a 200; in the request's arena */
	const char *detail;     /* otherwise: what is wrong, in a sentence */
	const char *scope;      /* of ERR_SCOPE: the scopes that are missing */
	unsigned retry_after_s; /* 0: not given */
};

/** How an operation is asked for, beyond what internal.def says. */
struct ask_options {
	uint64_t timeout_ms;      /* as in struct service_call */
	enum api_service service; /* which to ask, of an operation that every one has (API_EVERY) */
	bool is_safe;             /* asked like this it changes nothing, whatever it may do */
};

/** POST a JSON text to an internal operation of a service, and wait for the answer. Suspends.
 * `code` is that of the problem that the service replied, one of service_call(), or ERR_UPSTREAM:
 * the answer is no JSON. `options` NULL: none. */
struct service_answer service_ask_try(struct request *rq, enum internal_id id, const char *json,
                                      const struct ask_options *options);

/** As service_ask_try() without options, but raises what is wrong. Never NULL. */
yyjson_val *service_ask(struct request *rq, enum internal_id id, const char *json);

/** As service_ask(); NULL: ERR_NOT_FOUND. The service does not know what is asked about, or is of
 * the former version and does not know the operation. */
yyjson_val *service_ask_found(struct request *rq, enum internal_id id, const char *json);

/** Raise what is wrong with an answer; its code is not ERR_NONE. */
attr_noreturn void service_answer_raise(struct request *rq, const struct service_answer *answer);
