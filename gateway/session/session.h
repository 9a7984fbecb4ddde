/** gateway/session/: sessions of browsers, and the operations on them.
 *
 * A session is made with a key, and is looked up as a key is (key/key_check.h): through the same
 * cache, so it ends with its key within the same second. cookie.h says which requests may use it.
 */
#pragma once

#include "loop/request.h"

/** POST /session: log in with a key. */
void session_create(struct request *rq);

/** GET and DELETE /session: that of the request's cookie. */
void session_get(struct request *rq);
void session_delete(struct request *rq);

/** The sessions of the caller's account. */
void session_list(struct request *rq);
void session_end(struct request *rq);
