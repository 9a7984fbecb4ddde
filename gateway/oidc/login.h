/** Log-in at an OpenID provider: the operations. */
#pragma once

#include "loop/request.h"

/** GET /session/login: by which ways people may log in. */
void login_get(struct request *rq);

/** GET /session/oidc/start: lead the browser to the provider. With `link=true`, a page of this
 * origin adds the way to log in to the person of its session. */
void login_start(struct request *rq);

/** GET /session/oidc/callback: where the provider leads the browser to. */
void login_callback(struct request *rq);
