/** What is kept of a log-in while the person is at the provider: a row for ten minutes. It is taken
 * once. The state, which the browser brings back, opens it (request/held_secret.h). */
#pragma once

#include "loop/request.h"

/** Of a log-in. The texts are 32 random bytes each, as 43 characters of base64url. */
struct login_state {
	const char *nonce;    /* which the ID token has */
	const char *verifier; /* of PKCE (RFC 7636 section 4.1) */
	const char *cookie;   /* which the browser has that began it */
	const char
		*session; /* that adds a way to log in: identity_adder(); NULL: somebody logs in */
	const char *invitation; /* token of the one that the person accepts; NULL: none */
	const char *return_to;  /* a path of the console */
};

/** Begin a log-in, of which `session`, `invitation` and `return_to` are given: draw the secrets and
 * store it. Returns the state. */
const char *login_state_new(struct request *rq, struct login_state *login);

/** Take the log-in of a state. Raises ERR_INVALID: there is none, it was taken, or it has expired.
 */
struct login_state login_state_take(struct request *rq, const char *state);
