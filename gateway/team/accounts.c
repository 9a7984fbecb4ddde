#include "team/accounts.h"

#include "accounts.sql.h"
#include "audit/audit.h"
#include "input/input.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "session/session.h"

#define LIST_DEFAULT        20
#define LIST_MAX            100
#define NAME_MAX_CHARACTERS 200

struct accounts_input {
	const char *name;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct accounts_input, limit, LIST_DEFAULT, LIST_MAX),
	QUERY_OFFSET(struct accounts_input, offset),
	FIELD_END,
};

static const struct field CREATE_FIELDS[] = {
	BODY_TEXT(struct accounts_input, name, "name", REQUIRED | TRIMMED, 1, NAME_MAX_CHARACTERS),
	READ_ONLY("id"),
	READ_ONLY("email"),
	READ_ONLY("role"),
	READ_ONLY("created_at"),
	FIELD_END,
};

void accounts_list(struct request *rq)
{
	struct accounts_input *in = request_input(rq, struct accounts_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, ACCOUNTS_LIST_SQL, pg_uuid(rq->caller.account),
	                                caller_key(rq), pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void account_create(struct request *rq)
{
	struct accounts_input *in = request_input(rq, struct accounts_input, CREATE_FIELDS);
	if (!session_is_used(rq))
		raise_error(rq, ERR_FORBIDDEN,
		            "only a session makes an account, since a key is of one account");
	audit_begin(rq);
	struct pg_rows *rows = pg_query(rq, ACCOUNTS_FOUND_SQL, caller_key(rq), pg_text(in->name));
	if (!pg_value(rows, 0))
		raise_error(rq, ERR_CONFLICT, "you own 100 accounts; delete one first");
	pg_commit(rq);
	log_info("account created");
	reply_json(rq, 201, pg_json(rows));
}
