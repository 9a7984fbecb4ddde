/** svc-integrations/identity/: who an account's user is on other platforms.
 *
 * A link is a row of `identity_link`: a source (`code_host`, `tracker_a`, `tracker_b`), the user's
 * id there, and optionally an email and a login. Anybody can claim an id or an email; a claim is
 * verified as long as the account's connection to the source proves it: the provider has named this
 * id, or this email as a verified one. A verified id, and a verified email without regard to case,
 * belongs to one account. Claims that are not verified are seen by their account alone, and are
 * removed when another account's is verified (identity_link.fn.sql). */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** IDENTITY_LINKS_MAX. */
extern const struct setting IDENTITY_SETTINGS[];

/** POST /integrations/identity/link: 201, or 200 for an identity that is linked to the caller
 * already. */
void identity_link_create(struct request *rq);

/** GET /integrations/identity/links */
void identity_link_list(struct request *rq);

/** DELETE /integrations/identity/links/{link_id} */
void identity_link_delete(struct request *rq);

/** GET /integrations/identity/resolve: the caller's own link; with `service:any_user` anybody's
 * whose connection proves what is asked for. */
void identity_resolve(struct request *rq);
