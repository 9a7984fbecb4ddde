/** gateway/session/: sessions of browsers, and the operations on them.
 *
 * A session is made with a key, and is looked up as a key is (key/key_check.h): through the same
 * cache, so it ends with its key within the same second. cookie.h says which requests may use it.
 */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"

#include <stdbool.h>

/** POST /session: log in with a key. */
void session_create(struct request *rq);

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
