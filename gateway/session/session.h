/** gateway/session/: sessions of browsers, and the operations on them.
 *
 * A session is made with a key, or at a provider (oidc/oidc.h) with one that nobody has. It is
 * looked up as a key is (key/key_check.h): through the same cache, so it ends with its key within
 * the same second. cookie.h says which requests may use it.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "pg/pg.h"

#include <stdbool.h>

/** SESSION_KEY_LOGIN, and whether it lets people who are no operators log in with a key. */
extern const struct setting SESSION_SETTINGS[];
bool session_takes_keys(void);

/** POST /session: log in with a key. */
void session_create(struct request *rq);

/** An attempt to log in takes from what its client may look up of unknown keys; one that succeeds
 * gives it back. Raises ERR_RATE_LIMITED. */
struct uuid session_attempt_take(struct request *rq);
void session_attempt_return(struct request *rq, const struct uuid *attempt);

/** Let the browser have the token of a session as its cookie; `more` are further attributes. */
void session_set_cookie(struct request *rq, const char *token, const char *more);

/** GET and DELETE /session: that of the request's cookie. */
void session_get(struct request *rq);
void session_delete(struct request *rq);

/** POST /session/switch: let it show another account of its person. */
void session_show(struct request *rq);

/** The hash of the request's session, for operations that need no key: nobody has looked it up.
 * Raises ERR_UNAUTHENTICATED, or as cookie_permit() fails. In the arena. */
struct pg_param session_require(struct request *rq);

/** Whether the caller, whose key or session was looked up, came with a session. */
bool session_is_used(struct request *rq);

/** The sessions of the caller's account. */
void session_list(struct request *rq);
void session_end(struct request *rq);
