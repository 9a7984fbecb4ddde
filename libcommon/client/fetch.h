/** HTTP calls to others, over libcurl's multi interface on the worker's loop. */
#pragma once

#include "http/api.h"
#include "http/server.h"
#include "loop/request.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fetcher;

/** Make a worker's client on `loop`. */
struct fetcher *fetcher_new(uv_loop_t *loop);

/** Free; require()s that nothing is under way. NULL is fine. The loop has to run on for libuv's
 * close callbacks. */
void fetcher_free(struct fetcher *fetcher);

struct fetch_call {
	const char *method;    /* NULL: GET */
	const char *url;       /* http, https; absolute */
	const char *unix_path; /* connect there instead of the URL's host; NULL: no */
	const struct http_field *fields;
	size_t field_count;
	const char *body; /* NULL: none */
	size_t body_length;
	size_t answer_max_bytes; /* 0: 8 MiB */
	uint64_t timeout_ms;     /* 0: what is left of the request's deadline, at most 30,000 */
	bool follow_redirects;   /* at most 5, http(s) only */
};

/** In the arena of the request. */
struct fetch_answer {
	int status;
	struct http_field *fields;
	size_t field_count;
	const char *body; /* NUL-terminated */
	size_t body_length;
};

/** Make the call and wait for the whole answer. Suspends. Any status is an answer.
 * Raises ERR_UNAVAILABLE: no connection (nothing was sent); ERR_UNCERTAIN: it broke after a request
 * other than GET or HEAD was sent; ERR_TIMEOUT; ERR_UPSTREAM: not HTTP, TLS refused, or an answer
 * over the limit. */
struct fetch_answer *fetch(struct request *rq, const struct fetch_call *call);

/** As fetch(), and the failure is returned. */
enum err_code fetch_try(struct request *rq, const struct fetch_call *call,
                        struct fetch_answer **ret_answer);

/** First field of that name; NULL: none. */
const char *fetch_header(const struct fetch_answer *answer, const char *name);
