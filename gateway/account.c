#include "account.h"

#include "account.sql.h"
#include "auth.h"
#include "json.h"
#include "key.h"
#include "pg.h"
#include "preset.h"
#include "scope.h"
#include "worker_run.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

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
	auth_commit(rq);
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such account");
	reply_json(rq, 200, pg_json(rows));
}

/* The words of the create-user command. */
struct new_user {
	const char *email;
	const char *key_name;
	bool is_operator;
};

static void create_user(struct request *rq)
{
	const struct new_user *user = rq->user;
	uint64_t scopes = preset_scopes("full_access") | (user->is_operator ? SCOPE_OPERATOR : 0);
	pg_begin(rq);
	struct pg_rows *made =
		pg_query(rq, ACCOUNT_CREATE_SQL, pg_text(user->email), pg_bool(user->is_operator));
	const char *json =
		key_insert(rq, pg_json(made), user->key_name, KEY_PERSONAL, scopes, NULL, NULL, 0);
	pg_commit(rq);
	yyjson_val *root;
	require(json_parse(rq->arena, json, strlen(json), &root, NULL) == ERR_NONE);
	puts(json_get_text(root, "key"));
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
	if (!user.email || !strchr(user.email, '@') || optind < argc) {
		fprintf(stderr, "create-user: --email ADDRESS is needed\n");
		return 2;
	}
	return worker_command(process, create_user, &user);
}
