/** Invitations to an account. The token in the address of an invitation, which is shown once, lets
 * the person of the invited address become a member, in a session of theirs. It is valid for 7
 * days, once. */
#pragma once

#include "loop/request.h"

/** The page of the console that accepts, before the token: a fragment is in no log. */
#define INVITATION_PAGE "/console/join#"

/** POST /team/invitations: invite an address, in place of its open invitation. */
void invitation_create(struct request *rq);

/** DELETE /team/invitations/ID */
void invitation_delete(struct request *rq);

/** POST /team/invitations/accept */
void invitation_accept(struct request *rq);
