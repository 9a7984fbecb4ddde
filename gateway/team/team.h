/** gateway/team/: accounts of several persons.
 *
 *     team.c        the team of the caller's account, and its members (this header)
 *     invitation.c  how persons become members
 *     accounts.c    the accounts of a person
 *     command.c     the same by commands
 *
 * An account is a team. Its members are persons with a role, key/role.h says which. A person can be
 * a member of several accounts; a key is of one account, and a session shows one at a time. A
 * member who is removed, or whose role is lowered, is refused as soon as a key that is revoked
 * (key/key_check.h). An account always has an owner.
 */
#pragma once

#include "loop/request.h"

/** GET and PATCH /team. */
void team_get(struct request *rq);
void team_update(struct request *rq);

/** PATCH and DELETE /team/members/ID. */
void member_update(struct request *rq);
void member_delete(struct request *rq);

/** Log that a member has another role: what has to be repeated after a restore. After the
 * commit. */
void member_log_role(const char *account, const char *person, const char *role);

/** As audit_begin(), for a change of the team. An automation key keeps its scopes when the person
 * who made it leaves, but changes the team only while they are an owner or admin: they could invite
 * themselves again with it. Otherwise raises ERR_FORBIDDEN, and the audit log has the refusal. */
void team_begin(struct request *rq);
