/** Whose log-in it is, and their session. */
#pragma once

#include "loop/request.h"
#include "oidc/id_token.h"

/** Find the person of an identity of OIDC_ISSUER, or make one, and a session of theirs. Accepts the
 * invitation with the token `invitation`, NULL: none, if its address is theirs. Returns the token
 * of the session. Raises ERR_FORBIDDEN, and nothing is made: nobody is known or invited, the person
 * is disabled, or a member of no account. */
const char *identity_log_in(struct request *rq, const struct id_claims *claims,
                            const char *invitation);

/** Whether the identity is a person's: its address is not asked for, and does not matter. */
bool identity_is_known(struct request *rq, const struct id_claims *claims);

/** Let the person of a session, whose hash is `session` in hexadecimal, log in with an identity
 * from now on. Raises ERR_UNAUTHENTICATED: the session has ended; ERR_CONFLICT: the identity is
 * another person's, or the person has another one. */
void identity_link(struct request *rq, const struct id_claims *claims, const char *session);

/** The hash of the request's session in hexadecimal, which may add a way to log in: it may do all
 * that one who logs in so may, or a key that was given away for less would become one for all.
 * Raises as session_require(), and ERR_SCOPE. */
const char *identity_adder(struct request *rq);
