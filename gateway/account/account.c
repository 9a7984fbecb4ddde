#include "account/account.h"

#include "account.sql.h"
#include "audit/audit.h"
#include "input/input.h"
#include "json/json.h"
#include "key/key.h"
#include "key/key_change.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <string.h>

struct delete_input {
	const char *name; /* NULL: not given */
};

static const struct field DELETE_FIELDS[] = {
	JSON_BOOL("confirm", REQUIRED),
	BODY_TEXT(struct delete_input, name, "name", NULLABLE, 0, 0),
	FIELD_END,
};

/* Only an owner deletes an account, and names it where others would lose it, too. Locks it. */
static void require_permission(struct request *rq, const char *name)
{
	if (strcmp(key_role(rq, caller_key(rq).text), "owner") != 0)
		raise_error(rq, ERR_FORBIDDEN, "only an owner deletes the account");
	struct pg_rows *rows = pg_query(rq, ACCOUNT_MEMBERS_SQL, pg_uuid(rq->caller.account));
	int64_t members = pg_get_int(rows, 0, "members");
	if (members > 1 && (!name || strcmp(name, pg_get(rows, 0, "name")) != 0))
		raise_field(rq, "name", "must be the name of the account, which has %lld members",
		            (long long)members);
}

void account_log_deleted(const char *id)
{
	log_always("account deleted", f_text("account_id", id));
}

void account_delete(struct request *rq)
{
	if (yyjson_is_false(json_get(request_body(rq), "confirm")))
		problem_add_field(rq->arena, &rq->problem, "confirm", "must be true");
	struct delete_input *in = request_input(rq, struct delete_input, DELETE_FIELDS);
	audit_begin(rq);
	require_permission(rq, in->name);
	struct pg_rows *rows = pg_query(rq, ACCOUNT_DELETE_SQL, pg_uuid(rq->caller.account));
	key_change_commit(rq);
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such account");
	char account[UUID_TEXT_LEN + 1];
	uuid_format(&rq->caller.account, account);
	account_log_deleted(account);
	reply_json(rq, 200, pg_json(rows));
}
