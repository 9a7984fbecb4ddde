#include "team/invitation.h"

#include "account/email_address.h"
#include "audit/audit.h"
#include "gateway_process.h"
#include "input/input.h"
#include "invitation.sql.h"
#include "key/role.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "request/idempotency.h"
#include "service/process.h"
#include "session/session.h"
#include "team/invitation_mail.h"
#include "team/invitation_token.h"
#include "team/team.h"

#include <string.h>

struct invitation_input {
	const char *email, *role;
	const char *id, *token;
};

static const struct field CREATE_FIELDS[] = {
	{IN_BODY, FIELD_TEXT, "email", FIELD_AT(struct invitation_input, email, const char *),
         REQUIRED | TRIMMED, 3, EMAIL_MAX, .check = email_address_check},
	BODY_ENUM(struct invitation_input, role, "role", REQUIRED, ROLE_NAMES),
	READ_ONLY("id"),
	READ_ONLY("url"),
	READ_ONLY("mail"),
	READ_ONLY("created_at"),
	READ_ONLY("expires_at"),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct invitation_input, id, "invitation_id"),
	FIELD_END,
};

static const struct field TOKEN_FIELDS[] = {
	BODY_TEXT(struct invitation_input, token, "token", REQUIRED, 1, 200),
	FIELD_END,
};

/* What an outcome of invitation_make() or invitation_accept() raises. */
static const struct refusal {
	const char *outcome;
	enum err_code code;
	const char *detail; /* NULL: that of the code */
} REFUSALS[] = {
	{"refused", ERR_FORBIDDEN, "only an owner invites owners"},
	{"is_member", ERR_CONFLICT, "a member has this address"},
	{"too_many", ERR_TOO_MANY_INVITATIONS, "50 invitations are open; delete one first"},
	{"too_many_members", ERR_CONFLICT, "the account has 500 members"},
	{"no_session", ERR_UNAUTHENTICATED, "the session has ended"},
	{"absent", ERR_NOT_FOUND, "there is no such invitation, or it was used or has expired"},
	{"other_email", ERR_OTHER_EMAIL, NULL},
	{0},
};

static void require_outcome(struct request *rq, const struct pg_rows *rows)
{
	const char *outcome = pg_get(rows, 0, "outcome");
	for (const struct refusal *refusal = REFUSALS; refusal->outcome; refusal++)
		if (strcmp(refusal->outcome, outcome) == 0) {
			if (refusal->code == ERR_FORBIDDEN)
				audit_refused_here(rq);
			raise_error(rq, refusal->code, "%s",
			            refusal->detail ? refusal->detail
			                            : err_info(refusal->code)->detail);
		}
}

void invitation_create(struct request *rq)
{
	struct invitation_input *in = request_input(rq, struct invitation_input, CREATE_FIELDS);
	const struct gateway_process *gateway = rq->worker->process->user;
	const char *origin = gateway->cookies.public_origin;
	bool is_mailed = invitation_mail_is_wanted(rq);
	idempotency_join(rq); /* who repeats the request gets the link, too */
	struct pg_param id = pg_uuid(uuid_new());
	const char *token = invitation_token_make(rq, id.text);
	team_begin(rq);
	struct pg_rows *rows = pg_query(rq, INVITATION_CREATE_SQL, pg_uuid(rq->caller.account),
	                                caller_key(rq), id, pg_text(in->email), pg_text(in->role),
	                                pg_sha256(token), pg_bool(is_mailed));
	require_outcome(rq, rows);
	pg_commit(rq);
	reply_is_secret(rq);
	reply_json(rq, 201,
	           arena_printf(rq->arena, "{\"url\": \"%s" INVITATION_PAGE "%s\", %s",
	                        origin ? origin : "", token, pg_json(rows) + 1));
}

void invitation_delete(struct request *rq)
{
	struct invitation_input *in = request_input(rq, struct invitation_input, ID_FIELDS);
	team_begin(rq);
	struct pg_rows *rows = pg_query(rq, INVITATION_REVOKE_SQL, pg_uuid(rq->caller.account),
	                                caller_key(rq), pg_text(in->id));
	pg_commit(rq);
	require_row(rq, rows, "no such open invitation that you may revoke");
	log_always("invitation revoked", f_text("invitation_id", in->id));
	reply_json(rq, 200, pg_json(rows));
}

void invitation_accept(struct request *rq)
{
	struct invitation_input *in = request_input(rq, struct invitation_input, TOKEN_FIELDS);
	struct pg_param session = session_require(rq);
	audit_begin(rq);
	struct pg_rows *rows = pg_query(rq, INVITATION_TAKE_SQL, session, pg_sha256(in->token));
	require_outcome(rq, rows);
	pg_commit(rq);
	log_info("invitation accepted");
	reply_json(rq, 200, pg_json(rows));
}
