#include "account/account.h"

#include "account.sql.h"
#include "base/utf8.h"
#include "crypto/scope.h"
#include "input/input.h"
#include "json/json.h"
#include "key/key.h"
#include "key/key_check.h"
#include "key/preset.h"
#include "main/worker_run.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/reply.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define EMAIL_MAX 254 /* RFC 5321 section 4.5.3.1.3: a path of 256 less its brackets */

struct delete_input {
	bool confirm;
};

static const struct field DELETE_FIELDS[] = {
	BODY_BOOL(struct delete_input, confirm, "confirm", REQUIRED, false),
	FIELD_END,
};

void account_delete(struct request *rq)
{
	struct delete_input *in = request_input(rq, struct delete_input, DELETE_FIELDS);
	if (!in->confirm)
		raise_field(rq, "confirm", "must be true");
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, ACCOUNT_DELETE_SQL, pg_uuid(rq->caller.account));
	key_change_commit(rq);
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
	pg_begin(rq);
	struct pg_rows *created =
		pg_query(rq, ACCOUNT_CREATE_SQL, pg_text(user->email), pg_bool(user->is_operator));
	const char *json = key_insert(rq, pg_text(pg_json(created)), &key);
	pg_commit(rq);
	puts(json_get_text(json_parse_own(rq->arena, json), "key"));
}

/* One @ with text on both sides, no spaces and no control characters. */
static bool is_email(const char *text)
{
	const char *at = strchr(text, '@');
	size_t length = strlen(text);
	for (const char *byte = text; *byte; byte++)
		if ((unsigned char)*byte <= 0x20 || *byte == 0x7f)
			return false;
	return at && at > text && at[1] && !strchr(at + 1, '@') && length <= EMAIL_MAX &&
	       utf8_is_valid(text, length);
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
	if (!user->email || !is_email(user->email))
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
