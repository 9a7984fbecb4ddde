/** Whose log-in it is, and their session. */
#pragma once

#include "loop/request.h"
#include "oidc/id_token.h"

/** Find the person of an identity of OIDC_ISSUER, or make one, and a session of theirs. Returns its
 * token. Raises ERR_FORBIDDEN, and nothing is made: nobody is known or invited, the person is
 * disabled, or a member of no account. */
const char *identity_log_in(struct request *rq, const struct id_claims *claims);

/** Let a person log in with an identity from now on. Raises ERR_CONFLICT: it is another person's,
 * or the person has another one. */
void identity_link(struct request *rq, const struct id_claims *claims, const char *person);

/** The person of the request's session, in the arena. Raises as session_require(). */
const char *identity_session_person(struct request *rq);
