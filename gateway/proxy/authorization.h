/** Whether the key of a request may use the operation of the request.
 *
 * The question is asked when the request's head is there and, if it has content, again when all of
 * it is: the key may be revoked or changed meanwhile. By then the exchange may belong to one of the
 * gateway's own operations (local.h), which has taken its arena. So an authorization knows no
 * exchange. It has what it needs from the request, and the arena that it lives in itself, which
 * nobody frees before on_done.
 */
#pragma once

#include "crypto/identity.h"
#include "http/api.h"
#include "http/server.h"
#include "json/problem.h"
#include "key/key_check.h"

#include <stdbool.h>

struct authorization;

/** The key was looked up. `problem` NULL: it may use the operation. */
typedef void authorization_fn(void *user, struct problem *problem);

/** What a request names its caller by. */
struct credential {
	const char *text; /* of a key or a session; NULL: the request has none */
	bool is_session;
	const char *account; /* of a session: which account the page shows; NULL: it does not say */
};

struct authorization {
	struct key_checker *keys;
	struct arena *arena;
	const struct api_op *op;
	struct credential credential;
	const char *client;     /* its address */
	struct identity caller; /* as the key was at the last check that found it valid */
	bool has_caller;
	struct key_wait *wait; /* for a look-up; NULL: none */
	authorization_fn *done;
	void *user;
};

/** Prepare the checks of a request; the strings are in x->arena, in which the authorization is as
 * well. Call it before the exchange is handed over. */
void authorization_init(struct authorization *a, struct key_checker *keys, struct http_exchange *x,
                        const struct api_op *op, struct credential credential);

/** Look up the key and check that it may use the operation. Calls `done(user, ...)` once: before it
 * returns, or from the loop's own stack later, unless authorization_cancel() is called first.
 *
 * Problems: ERR_UNAUTHENTICATED, ERR_RATE_LIMITED and ERR_UNAVAILABLE as key_check(); ERR_SCOPE and
 * ERR_FORBIDDEN as api_permit(); ERR_ACCOUNT_CHANGED: the session shows another account than the
 * page does, which another window has switched; with these three has_caller is set. */
void authorization_check(struct authorization *a, authorization_fn *done, void *user);

/** Whether authorization_check() still waits. */
bool authorization_is_pending(const struct authorization *a);

/** Stop waiting. Nothing happens when there is no wait. */
void authorization_cancel(struct authorization *a);
