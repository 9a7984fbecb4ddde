/** gateway/proxy/: what happens to a request of the public interface. Entry points: edge.h makes
 * the parts for each worker; this header handles one request.
 *
 *     edge.c              settings, listener, and the parts that a worker owns
 *     proxy.c             the states of one exchange; with proxy_head.c and proxy_report.c
 *     authorization.c     whether the request's key may use the operation
 *     local.c             the operations that the gateway answers itself
 *     cors.c              cross-origin requests of browsers
 *     origin.c            which web pages may use the agent-tool protocol
 *     forwarded.c         the client's address behind trusted load balancers
 *     https_redirect.c    where a plain request is sent, with HTTPS_REDIRECT
 *     signature_cache.c   the caller's identity, signed for the services
 *
 * The proxy finds the operation in api.def, checks the key (key/key_check.h), the rate limits of
 * the key and its account, or without a key of the client's address (limit/rate_limit.h), and the
 * key's scopes. Then it passes the request to the operation's service, or runs it here if it is one
 * of the gateway's own operations. Content is streamed in both directions and never buffered as a
 * whole. proxy.c draws the states.
 *
 * A request with content is authorised twice: when its head is there, and again when all of it is.
 * The last piece of the content, or the chunk that ends it, is held back until the second check, so
 * that the service does not get the whole request, and does nothing, when the key was revoked or
 * lost the scope meanwhile.
 *
 * Sent to the service: method and target as received; Host; all fields except those that apply to
 * one connection only (RFC 9110 section 7.6.1), Authorization, and those that the gateway sets
 * itself: `X-Expops-Identity`, `X-Request-Id`, `Via`, `X-Forwarded-For` (the client's address,
 * forwarded.h), `X-Forwarded-Proto` and `X-Forwarded-Host`. Sent to the client: status, all fields
 * except those that apply to one connection only, `X-Request-Id`, the RateLimit fields when a limit
 * is set, and those of CORS for an origin that is allowed. A preflight of such an origin is
 * answered without a key.
 *
 * Problem replies of the proxy: no such operation (404, 405 with Allow, 410), no valid key
 * (401), a missing scope (403), too many requests (429), content over the operation's limit (413),
 * and a service that cannot be reached (503), is too slow (504) or sends an invalid answer (502).
 */
#pragma once

#include "crypto/identity.h"
#include "http/api.h"
#include "http/server.h"
#include "json/problem.h"
#include "key/key_check.h"
#include "limit/rate_limit.h"
#include "proxy/forwarded.h"
#include "upstream/upstream.h"
#include "usage/key_usage.h"

struct console;
struct cookie_rules;
struct cors;
struct origin_rules;
struct proxy;

/** What a proxy works with. */
struct proxy_parts {
	struct worker *worker; /* of the operations that the gateway answers itself */
	struct key_checker *keys;
	struct rate_limits *limits;
	struct key_usage *usage; /* NULL: nothing is counted */
	/* By enum api_service; NULL: not configured, its operations are answered with 503. */
	struct identity_signer *const *signers;
	struct upstream *const *services;
	/* Load balancers whose X-Forwarded-* fields are used; NULL: none. */
	const struct trusted *trusted;
	/* Origins whose cross-origin requests are allowed; NULL: none. */
	const struct cors *cors;
	/* Which Origin and Host the operations that are PROTOCOL (api.def, origin.h) take, others
	 * get 403; NULL: they are not checked. */
	const struct origin_rules *origins;
	/* Where requests that did not come by HTTPS are sent with 308 (https_redirect.h); NULL:
	 * they are served. */
	const char *https_origin;
	/* Answers requests for the console (console/console.h); NULL: they get 404. */
	const struct console *console;
	/* Of the cookies of sessions, which are taken as well as keys; NULL: none are. */
	const struct cookie_rules *cookies;
};

/** Copies `parts`, and borrows what is in it. */
struct proxy *proxy_new(const struct proxy_parts *parts);

/** Free, once no exchange is left. Accepts NULL. */
void proxy_free(struct proxy *proxy);

/** Where the content of a request comes from and where its response goes: the functions of
 * http/server.h with these names. */
struct proxy_client {
	void (*content_pause)(struct http_exchange *x);
	void (*content_resume)(struct http_exchange *x);
	void (*respond_start)(struct http_exchange *x, int status, const struct http_field *fields,
	                      size_t field_count, int64_t content_length);
	bool (*respond_content)(struct http_exchange *x, const void *data, size_t length);
	void (*respond_end)(struct http_exchange *x);
	void (*respond_abort)(struct http_exchange *x);
};

/** Take a request that the gateway makes itself on behalf of its caller (mcp/operation.h), in place
 * of proxy_head(). `client` is borrowed. The maker calls the functions below for the events of the
 * exchange, and never from inside a function of `client`. The operation must be a service's. */
void proxy_request(struct proxy *proxy, struct http_exchange *x, const struct proxy_client *client);

/** The callbacks of struct http_handler. They keep their state in x->user. */
void proxy_head(struct proxy *proxy, struct http_exchange *x);
void proxy_content(struct http_exchange *x, const char *data, size_t length);
void proxy_end(struct http_exchange *x);
void proxy_drained(struct http_exchange *x);
void proxy_gone(struct http_exchange *x, enum err_code reason);
void proxy_done(struct http_exchange *x);
