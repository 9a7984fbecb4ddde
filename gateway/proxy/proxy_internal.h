/** What the files of the proxy share. Only they include it.
 *
 *     proxy.c         the states of an exchange, the client's events and the call of the service
 *     proxy_head.c    the head that is sent to the service, and the head of the response
 *     proxy_report.c  the log line and the metrics of each exchange
 */
#pragma once

#include "json/problem.h"
#include "proxy/authorization.h"
#include "proxy/cors.h"
#include "proxy/https_redirect.h"
#include "proxy/proxy.h"
#include "proxy/signature_cache.h"

/** Described in proxy.c. */
enum proxy_state {
	PROXY_MATCH,
	PROXY_AUTH,
	PROXY_HANDED_OVER,
	PROXY_CONNECT,
	PROXY_SEND,
	PROXY_RELAY,
	PROXY_ANSWERED,
	PROXY_ABORTED,
	PROXY_STATES
};

struct proxy {
	struct proxy_parts parts;
	struct signature_cache *signatures;
};

/** One exchange, in its arena. */
struct proxy_exchange {
	struct proxy *proxy;
	const struct proxy_client *client;
	struct http_exchange *x; /* NULL in PROXY_HANDED_OVER */
	enum proxy_state state;
	const char *request_id;
	struct span *span, *call_span; /* of the exchange, and of the call; NULL: not traced */
	const char *traceparent;       /* sent in place of the client's; NULL: that is passed on */
	struct api_match match;
	struct authorization authorization; /* its caller is unset in an operation without a key */
	struct rate_verdict rate;
	struct upstream_call *call; /* NULL: there is none */
	struct buf head;            /* to be sent to the service */
	uint64_t received_bytes;    /* of the request's content */
	/* The last piece of a content of known length, until the key was checked again. */
	const char *held;
	size_t held_length;
	uint64_t call_started_us, answer_us;
	enum err_code code;  /* of the problem that was replied, or why the exchange was aborted */
	const char *reason;  /* details of `code` for logs; NULL: none */
	unsigned sent_count; /* connections that broke after some of the request was sent */
	unsigned unsent_count; /* connections that broke before */
	bool is_paused;        /* the request's content is, until the key was looked up */
	bool has_content;      /* the request's content is sent to the service */
	bool is_head_sent;
	bool is_content_gone; /* some of it was sent and is not held any more */
	bool is_complete;     /* the whole request was received */
	bool is_authorized;   /* and its key was valid then */
};

/* proxy_head.c */

/** What the request names its caller by: the bearer token, if there is exactly one Authorization
 * field and it has one, or else the cookie of a session, where it may be used (session/cookie.h).
 * Fails as cookie_permit(). */
enum err_code proxy_credential(const struct proxy_exchange *p, struct credential *ret);

/** Write the head for the service into p->head. */
void proxy_compose_head(struct proxy_exchange *p);

/** Start the client's response with the head of the service's answer. */
void proxy_respond_answer(struct proxy_exchange *p, const struct upstream_answer *answer);

/** Send a problem reply. */
void proxy_respond_problem(struct proxy_exchange *p, struct problem *problem);

#define PROXY_ADDED_MAX (2 + CORS_FIELDS_MAX)

/** Write the fields that the proxy adds to every response: RateLimit and CORS. In the arena.
 * Returns how many. */
size_t proxy_added_fields(struct proxy_exchange *p, struct http_field fields[PROXY_ADDED_MAX]);

/** Answer a preflight (cors.h). */
void proxy_respond_preflight(struct proxy_exchange *p);

/* proxy_report.c */

/** Log the exchange and count it. */
void proxy_report(const struct proxy_exchange *p);
void proxy_report_retry(const struct proxy_exchange *p);
