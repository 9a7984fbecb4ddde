#include "account/account.h"

#include "account.sql.h"
#include "account/email_address.h"
#include "audit/audit.h"
#include "base/utf8.h"
#include "crypto/scope.h"
#include "input/input.h"
#include "json/json.h"
#include "key/key.h"
#include "key/key_change.h"
#include "key/preset.h"
#include "main/worker_run.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <getopt.h>
#include <stdio.h>
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

void account_delete(struct request *rq)
{
	if (yyjson_is_false(json_get(request_body(rq), "confirm")))
		problem_add_field(rq->arena, &rq->problem, "confirm", "must be true");
	struct delete_input *in = request_input(rq, struct delete_input, DELETE_FIELDS);
	audit_begin(rq);
	require_permission(rq, in->name);
	struct pg_rows *rows = pg_query(rq, ACCOUNT_DELETE_SQL, pg_uuid(rq->caller.account));
	key_change_commit(rq, &rq->caller.account);
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such account");
	char account[UUID_TEXT_LEN + 1];
	uuid_format(&rq->caller.account, account);
	log_info(LOG_GROUP_APP, "account deleted", f_text("account_id", account));
	reply_json(rq, 200, pg_json(rows));
}

/* The arguments of the create-user command. */
struct new_user {
	const char *email;
	const char *key_name;
	bool is_operator;
};

static void create_user(struct request *rq)
{
	const struct new_user *user = rq->user;
	struct new_key key = {
		.name = user->key_name,
		.kind = KEY_PERSONAL,
		.scopes = preset_scopes("full_access") | (user->is_operator ? SCOPE_OPERATOR : 0),
	};
	audit_begin(rq);
	struct pg_rows *created =
		pg_query(rq, ACCOUNT_CREATE_SQL, pg_text(user->email), pg_bool(user->is_operator));
	const char *json = key_insert(rq, pg_text(pg_json(created)), &key);
	pg_commit(rq);
	puts(json_get_text(json_parse_own(rq->arena, json), "key"));
}

static bool is_key_name(const char *text)
{
	size_t length = strlen(text);
	return length >= 1 && utf8_is_valid(text, length) &&
	       utf8_count(text, length) <= KEY_NAME_MAX;
}

/* What is wrong with the arguments; NULL: nothing. */
static const char *new_user_fault(const struct new_user *user)
{
	const char *message;
	if (!user->email || !email_address_check(user->email, strlen(user->email), &message))
		return "--email ADDRESS is required";
	return is_key_name(user->key_name) ? NULL : "--key-name must have 1 to 200 characters";
}

int account_create_command(struct process *process, int argc, char **argv)
{
	static const struct option OPTIONS[] = {
		{"email", required_argument, NULL, 'e'},
		{"key-name", required_argument, NULL, 'k'},
		{"operator", no_argument, NULL, 'o'},
		{0},
	};
	struct new_user user = {.key_name = "first key"};
	int option;
	while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
		if (option == '?')
			return 2;
		if (option == 'e')
			user.email = optarg;
		else if (option == 'k')
			user.key_name = optarg;
		else
			user.is_operator = true;
	}
	const char *fault = optind < argc ? "unexpected argument" : new_user_fault(&user);
	if (fault) {
		fprintf(stderr, "create-user: %s\n", fault);
		return 2;
	}
	return command_run(process, create_user, &user);
}
