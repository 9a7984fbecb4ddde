#include "team/team.h"

#include "audit/audit.h"
#include "input/input.h"
#include "key/key_change.h"
#include "key/role.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "team.sql.h"

#include <string.h>

#define NAME_MAX_CHARACTERS 200

struct team_input {
	const char *name;
	const char *person, *role;
};

static const struct field TEAM_FIELDS[] = {
	BODY_TEXT(struct team_input, name, "name", REQUIRED | TRIMMED, 1, NAME_MAX_CHARACTERS),
	READ_ONLY("account"),
	READ_ONLY("you"),
	READ_ONLY("members"),
	READ_ONLY("invitations"),
	FIELD_END,
};

static const struct field MEMBER_FIELDS[] = {
	PATH_UUID(struct team_input, person, "person_id"),
	BODY_ENUM(struct team_input, role, "role", REQUIRED, ROLE_NAMES),
	READ_ONLY("person_id"),
	READ_ONLY("email"),
	READ_ONLY("name"),
	READ_ONLY("created_at"),
	READ_ONLY("last_seen_at"),
	FIELD_END,
};

static const struct field PERSON_FIELDS[] = {
	PATH_UUID(struct team_input, person, "person_id"),
	FIELD_END,
};

/* --- The team --------------------------------------------------------------------------------- */

static void reply_team(struct request *rq)
{
	reply_one(rq, 200, pg_query(rq, TEAM_READ_SQL, pg_uuid(rq->caller.account), caller_key(rq)),
	          "no such account");
}

void team_get(struct request *rq)
{
	request_input_none(rq);
	reply_team(rq);
}

void team_begin(struct request *rq)
{
	audit_begin(rq);
	if (pg_value_bool(pg_query(rq, TEAM_OPEN_SQL, pg_uuid(rq->caller.account), caller_key(rq)),
	                  0))
		return;
	audit_refused_here(rq);
	raise_error(rq, ERR_FORBIDDEN,
	            "an automation key changes the team only while the person who made it is an "
	            "owner or admin");
}

void team_update(struct request *rq)
{
	struct team_input *in = request_input(rq, struct team_input, TEAM_FIELDS);
	team_begin(rq);
	pg_query(rq, TEAM_RENAME_SQL, pg_uuid(rq->caller.account), pg_text(in->name));
	pg_commit(rq);
	reply_team(rq);
}

/* --- Members ---------------------------------------------------------------------------------- */

/* Raise the outcome of member_change() or member_remove(), unless it was done. */
static void require_changed(struct request *rq, const struct pg_rows *rows)
{
	const char *outcome = pg_get(rows, 0, "outcome");
	if (strcmp(outcome, "refused") == 0 || strcmp(outcome, "last_owner") == 0)
		audit_refused_here(rq);
	if (strcmp(outcome, "absent") == 0)
		raise_error(rq, ERR_NOT_FOUND, "no such member");
	if (strcmp(outcome, "refused") == 0)
		raise_error(rq, ERR_FORBIDDEN, "only an owner makes, changes and removes owners");
	if (strcmp(outcome, "last_owner") == 0)
		raise_error(rq, ERR_LAST_OWNER, "%s", err_info(ERR_LAST_OWNER)->detail);
}

void member_log_role(const char *account, const char *person, const char *role)
{
	log_always("role changed", f_text("account_id", account), f_text("person_id", person),
	           f_text("role", role));
}

void member_update(struct request *rq)
{
	struct team_input *in = request_input(rq, struct team_input, MEMBER_FIELDS);
	struct pg_param account = pg_uuid(rq->caller.account);
	team_begin(rq);
	require_changed(rq, pg_query(rq, TEAM_MEMBER_CHANGE_SQL, account, caller_key(rq),
	                             pg_text(in->person), pg_text(in->role)));
	struct pg_rows *member = pg_query(rq, TEAM_MEMBER_READ_SQL, account, pg_text(in->person));
	key_change_commit(rq);
	member_log_role(account.text, in->person, in->role);
	reply_one(rq, 200, member, "no such member");
}

/* Whoever may not manage members may leave. */
static bool is_oneself(struct request *rq, const char *person)
{
	struct pg_rows *rows = pg_query(rq, TEAM_CALLER_SQL, caller_key(rq));
	const char *caller = pg_value(rows, 0);
	return caller && strcmp(caller, person) == 0;
}

void member_delete(struct request *rq)
{
	struct team_input *in = request_input(rq, struct team_input, PERSON_FIELDS);
	struct pg_param account = pg_uuid(rq->caller.account);
	bool may_remove = caller_has_scope(rq, SCOPE_BIT_TEAM_WRITE) || is_oneself(rq, in->person);
	if (!may_remove)
		audit_refused_here(rq);
	if (!may_remove)
		require_scope(rq, SCOPE_BIT_TEAM_WRITE);
	team_begin(rq);
	require_changed(rq, pg_query(rq, TEAM_MEMBER_REMOVE_SQL, account, caller_key(rq),
	                             pg_text(in->person)));
	key_change_commit(rq);
	log_always("member removed", f_text("account_id", account.text),
	           f_text("person_id", in->person));
	reply_json(rq, 200,
	           arena_printf(rq->arena, "{\"id\": \"%s\", \"deleted\": true}", in->person));
}
