/** libcommon/client/: HTTP calls to other servers, over libcurl's multi interface on the worker's
 * loop. fetch_try() calls any server; service_call() (service_call.h) calls another service of the
 * cluster. */
#pragma once

#include "http/head.h"
#include "http/method.h"
#include "loop/request.h"

#include <uv.h>
#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fetcher;

/** Make a worker's client on `loop`. */
struct fetcher *fetcher_new(uv_loop_t *loop);

/** Free; require()s that no call is running. The loop has to run on for libuv's close callbacks.
 * NULL is fine. */
void fetcher_free(struct fetcher *fetcher);

/** Which addresses of a call are checked: a private one is refused unless FETCH_ALLOW lists it
 * (guard.h). */
enum fetch_guard {
	FETCH_GUARD_NONE,      /* the URL comes from the settings */
	FETCH_GUARD_REDIRECTS, /* the URL too, but not where it redirects to, unless it is the same
				  address and port; a proxy counts as an address */
	FETCH_GUARD_ALL,    /* the URL comes from a user; proxies of the environment are not used,
			       and FETCH_MEMORY limits the call */
	FETCH_GUARD_LISTED, /* as FETCH_GUARD_ALL, and public addresses are refused, too */
};

struct fetch_call {
	const char *method;    /* NULL: GET */
	const char *url;       /* http or https; absolute */
	const char *unix_path; /* connect to this unix socket and not to the URL's host; NULL: no */
	const struct http_field *fields;
	size_t field_count;
	const char *body; /* NULL: none */
	size_t body_length;
	size_t response_max_bytes;   /* 0: 8 MiB */
	bool cuts_response;          /* a longer answer is cut there, and is no failure */
	uint64_t timeout_ms;         /* 0: what is left of the request's deadline, at most 30,000 */
	uint64_t connect_timeout_ms; /* 0: 5,000 */
	enum http_effect effect;     /* what sending it again does */
	bool is_fresh;               /* over a new connection, also when it can be sent again */
	bool follow_redirects;       /* at most 5; http and https only */
	enum fetch_guard guard;
	bool url_is_secret;  /* its path is not logged */
	bool is_direct;      /* ignore the proxies that environment variables set */
	const char *service; /* the service that is called, which gets the trace; NULL: an outside
				host, which does not */
	char *ret_why;       /* gets why there is no answer, in libcurl's words; NULL: not asked */
	size_t why_size;
	bool *ret_is_unresolved; /* gets whether the host's name has no address; NULL: not asked */
};

/** In the arena of the request. */
struct fetch_response {
	int status;
	struct http_field *fields;
	size_t field_count;
	const char *body; /* NUL-terminated */
	size_t body_length;
};

/** Set FETCH_MEMORY: the limit of what calls of users' URLs occupy, together, while clients wait
 * for them. Each counts its answer and 256 KiB for its connection; those of one account may occupy
 * a quarter (pacing/budget.h). Once, before other threads start. */
void fetch_set_limit(size_t memory_bytes);

/** What they occupy. */
size_t fetch_used_bytes(void);

/** Make the call and wait for the complete answer, of any status. Suspends. A call that can
 * be sent again may take a kept connection; where the server had ended it, it is sent again over a
 * new one.
 *
 * ERR_UNAVAILABLE: no connection, or it broke while the request was unsent or it changes nothing;
 * ERR_UNCERTAIN: it broke after a request was sent that changes something;
 * ERR_FORBIDDEN: the guard refused the address; ERR_RATE_LIMITED: the account has used up its share
 * of FETCH_MEMORY, ERR_CONTENTION: all have used up FETCH_MEMORY; ERR_TIMEOUT; ERR_UPSTREAM: not
 * HTTP, TLS failed, or the answer exceeds its limit, or a field of the call has a control
 * character: then nothing is sent; or the reason of a cancellation. */
enum err_code fetch_try(struct request *rq, const struct fetch_call *call,
                        struct fetch_response **ret_answer);

/** Raise what fetch_try() has returned if FETCH_MEMORY, or a share of it, is used up. */
void fetch_raise_if_full(struct request *rq, enum err_code code);

/** Values, names included, of an answer that is parsed: 12 MB. A page of 100 pull requests, the
 * largest that is read, has 150,000. */
#define FETCH_VALUES_MAX 500000

/** Parse an answer of this system's own services into the arena. Returns NULL, or what is wrong
 * with it, as the rest of a sentence: `is not valid JSON: …`, `has more than 500000 values`. */
const char *fetch_json(struct arena *arena, const struct fetch_response *answer,
                       yyjson_val **ret_root);

/** As fetch_json(), for an answer from outside, which is read leniently (json/json.h). */
const char *fetch_json_outside(struct arena *arena, const struct fetch_response *answer,
                               yyjson_val **ret_root);

/** The time that Retry-After asks for, as seconds or as a date (RFC 9110 section 10.2.3), at most
 * an hour; 0: there is none, or it has passed. */
uint64_t fetch_retry_after_ms(const struct fetch_response *answer);

/** As fetch_retry_after_ms(), at most `max_ms`. */
uint64_t fetch_retry_after_within_ms(const struct fetch_response *answer, uint64_t max_ms);

/** The server's clock when it answered, by the field Date, in seconds since the Unix epoch; 0: not
 * told. */
int64_t fetch_date_s(const struct fetch_response *answer);

/** The value of the first field with that name; NULL: none. */
const char *fetch_field(const struct fetch_response *answer, const char *name);
