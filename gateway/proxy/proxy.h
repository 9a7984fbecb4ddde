/** One request of the public interface on its way to a service and back.
 *
 * The proxy matches the request with api.def, asks whose key it is, takes a token of the key's
 * rate, and passes the request on to the operation's service with the caller's identity signed; or
 * hands it to the gateway's own operations. Bodies stream both ways and are never collected. The
 * states are drawn in proxy.c.
 *
 * What goes on to the service: method and target as received; Host; fields but those that belong to
 * one connection (RFC 9110 section 7.6.1) or are the gateway's to set; `X-Expops-Identity`,
 * `X-Request-Id`, `Via`, `X-Forwarded-For` (the client, as far as it can be believed: forwarded.h),
 * `X-Forwarded-Proto` and `X-Forwarded-Host`. Authorization stays here. What goes back: status,
 * fields but those of the connection, `X-Request-Id`, and RateLimit fields where a limit is set.
 *
 * Refused here, as problem replies: what api.def has not (404, 405 with Allow, 410, 501), no usable
 * key (401), a scope that is missing (403), too many requests (429), content over the operation's
 * limit (413), a service that is away (503), slow (504) or not one (502).
 */
#pragma once

#include "base/identity.h"
#include "http/api.h"
#include "http/server.h"
#include "key/auth.h"
#include "proxy/forwarded.h"
#include "proxy/rate_limit.h"
#include "upstream/upstream.h"

struct proxy;

/** What the proxy asks of others; `context` is proxy_new()'s. */
struct proxy_hooks {
	/** As auth_check() and auth_cancel(). */
	enum err_code (*auth)(void *context, const char *bearer, struct identity *ret_caller,
	                      struct auth_wait **ret_wait, auth_done_cb *done, void *done_context);
	void (*auth_cancel)(struct auth_wait *wait);
	/** Take a token of the key; NULL: no limit. */
	struct rate_verdict (*rate)(void *context, const struct uuid *key_id);
	/** Take over a request to one of the gateway's own operations, with the exchange's arena.
	 * `fields` go into its reply, and live as long as the arena. The exchange's events come
	 * through the others with what this returns; local_done frees it. */
	void *(*local_open)(void *context, struct http_exchange *x, const struct api_match *match,
	                    const struct identity *caller, const char *request_id,
	                    const struct http_field *fields, size_t field_count);
	void (*local_content)(void *local, const char *data, size_t length);
	void (*local_end)(void *local);
	void (*local_gone)(void *local, enum err_code reason);
	void (*local_done)(void *local);
};

/** Borrows everything. `services` by enum api_service; NULL: not configured, its operations are
 * answered 503. */
struct proxy *proxy_new(const struct identity_signer *signer,
                        struct upstream *const services[API_SERVICE_COUNT],
                        const struct proxy_hooks *hooks, void *context);

/** Whom to believe what they say of their clients; nobody until this is called. Borrows. */
void proxy_trust(struct proxy *proxy, const struct trusted *trusted);

/** When no exchange is left. NULL is fine. */
void proxy_free(struct proxy *proxy);

/** The callbacks of struct http_handler; proxy_head() also takes the proxy, which the listener's
 * handler knows. They keep their state in x->user. */
void proxy_head(struct proxy *proxy, struct http_exchange *x);
void proxy_content(struct http_exchange *x, const char *data, size_t length);
void proxy_end(struct http_exchange *x);
void proxy_drained(struct http_exchange *x);
void proxy_gone(struct http_exchange *x, enum err_code reason);
void proxy_done(struct http_exchange *x);

/** Register the metrics of the proxy and of its connections; once, before threads. */
void proxy_register(void);
