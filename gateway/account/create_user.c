#include "account.sql.h"
#include "account/account.h"
#include "account/email_address.h"
#include "audit/audit.h"
#include "base/utf8.h"
#include "crypto/scope.h"
#include "json/json.h"
#include "key/key.h"
#include "key/preset.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "pg/pg.h"

#include <stdio.h>
#include <string.h>

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
	struct pg_param account = pg_text(pg_json(created));
	if (!pg_value_bool(pg_query(rq, ACCOUNT_HAS_OWN_PERSON_SQL, account), 0))
		raise_error(rq, ERR_CONFLICT,
		            "%s is no member of the account %s any more; add-member adds them",
		            user->email, account.text);
	const char *json = key_insert(rq, account, &key);
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
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct new_user, email, "email"),
		ARGUMENT_TEXT(struct new_user, key_name, "key-name"),
		ARGUMENT_FLAG(struct new_user, is_operator, "operator"),
		ARGUMENT_END,
	};
	struct new_user user = {.key_name = "first key"};
	char **operands = arguments_read(argc, argv, ARGUMENTS, &user);
	if (!operands)
		return COMMAND_USAGE;
	const char *fault = operands[0] ? "unexpected argument" : new_user_fault(&user);
	if (fault) {
		fprintf(stderr, "create-user: %s\n", fault);
		return COMMAND_USAGE;
	}
	return command_run(process, create_user, &user);
}
