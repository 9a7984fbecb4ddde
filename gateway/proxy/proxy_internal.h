/** What the files of the proxy share; nobody else includes it.
 *
 *     proxy.c         the states of an exchange; the client's side
 *     proxy_call.c    the service's side
 *     proxy_head.c    heads, as they go on to the service and back to the client
 *     proxy_report.c  one log line and the counters of each exchange
 */
#pragma once

#include "base/problem.h"
#include "proxy/proxy.h"
#include "proxy/signature.h"

enum proxy_state {
	PROXY_MATCH,
	PROXY_AUTH,    /* waits for the key's owner */
	PROXY_LOCAL,   /* the gateway's own operation has it */
	PROXY_CONNECT, /* waits for a connection to the service */
	PROXY_SEND,    /* the request goes out, no answer yet */
	PROXY_RELAY,   /* the answer comes back */
	PROXY_ANSWERED,
	PROXY_GONE, /* given up */
	PROXY_STATES
};

struct proxy {
	struct signatures *signatures;
	struct upstream *const *services;
	const struct trusted *trusted; /* NULL: nobody */
	const struct proxy_hooks *hooks;
	void *context;
};

/** One exchange, in its arena. */
struct proxied {
	struct proxy *proxy;
	struct http_exchange *x;
	enum proxy_state state;
	const char *request_id;
	const char *scheme; /* that the client speaks */
	struct api_match match;
	struct identity caller;
	struct rate_verdict rate;
	struct auth_wait *wait;     /* in PROXY_AUTH */
	struct upstream_call *call; /* NULL: none is open */
	void *local;                /* in PROXY_LOCAL */
	struct buf head;            /* of the request, to be sent */
	uint64_t received_bytes;    /* of the request's content */
	uint64_t call_started_us, answer_us;
	enum err_code code; /* of the problem that was replied, or why it was given up */
	const char *reason; /* more of it, for logs; NULL: none */
	bool has_content;   /* content goes on to the service */
	bool is_head_sent;
	bool is_content_sent; /* some of it */
	bool is_complete;     /* the request has come whole */
	unsigned retries;
};

/* proxy.c */

/** One of the moves that are drawn there; any other is a bug. */
void proxy_move(struct proxied *p, enum proxy_state to);

/** Let go of everything and reply with a problem. `detail` NULL: what err_info() says. */
void proxy_answer_code(struct proxied *p, enum err_code code, const char *detail);

/** The same, or, where the response is under way already, break it off. */
void proxy_fail(struct proxied *p, enum err_code code, const char *detail);

/* proxy_call.c */

/** Pass the request on to its service. */
void proxy_call(struct proxied *p);

/** Send a piece of content, behind the head when that has not gone out; without a byte it is the end
 * of chunks. True: the service is full, stop. */
bool proxy_call_content(struct proxied *p, const char *data, size_t length);

/** The request is complete. */
void proxy_call_end(struct proxied *p);

/* proxy_head.c */

/** The key's text in the one Authorization field; NULL: there is none. */
const char *proxy_bearer(const struct http_head *head);

/** Write the request's head into p->head. */
void proxy_compose(struct proxied *p);

/** Start the client's response with the answer's head. */
void proxy_respond(struct proxied *p, const struct upstream_answer *answer);

/** Reply with a problem. */
void proxy_problem(struct proxied *p, struct problem *problem);

/** The RateLimit fields of the key, in the arena; how many there are, 0 or 2. */
size_t proxy_rate_fields(struct proxied *p, struct http_field fields[2]);

/* proxy_report.c */

void proxy_report(const struct proxied *p);
void proxy_report_retry(const struct proxied *p);
