/** svc-integrations/identity/: who an account's user is on other platforms.
 *
 * A link is a row of `identity_link`: a source (`code_host`, `tracker_a`, `tracker_b`), the user's
 * id there, and optionally an email and a login. An identity, by its id or by its email without
 * regard to case, belongs to one account. */
#pragma once

#include "loop/request.h"

/** POST /integrations/identity/link: 201, or 200 for an identity that is the caller's already. */
void identity_link_create(struct request *rq);

/** GET /integrations/identity/links */
void identity_link_list(struct request *rq);

/** GET /integrations/identity/resolve: the caller's own link; with `service:any_user` anybody's. */
void identity_resolve(struct request *rq);
