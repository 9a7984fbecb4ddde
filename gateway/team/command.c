#include "team/command.h"

#include "account/email_address.h"
#include "audit/audit.h"
#include "base/base.h"
#include "base/utf8.h"
#include "command.sql.h"
#include "json/json.h"
#include "key/key.h"
#include "key/preset.h"
#include "key/role.h"
#include "main/arguments.h"
#include "main/command_run.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_CHARACTERS 200

/* Of all commands; NULL: not given. */
struct arguments {
	const char *account, *email, *name, *owner, *role;
	bool undoes;
};

static bool is_address(const char *text)
{
	const char *message;
	return text && email_address_check(text, strlen(text), &message);
}

static bool is_name(const char *text)
{
	size_t length = text ? strlen(text) : 0;
	return length > 0 && utf8_is_valid(text, length) &&
	       utf8_count(text, length) <= NAME_MAX_CHARACTERS;
}

static bool is_id(const char *text)
{
	struct uuid id;
	return text && uuid_parse(text, strlen(text), &id);
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* Make a key of the person, and return its text. */
static const char *give_key(struct request *rq, const char *account, const char *person,
                            const char *role)
{
	struct new_key key = {
		.name = "first key",
		.kind = KEY_PERSONAL,
		.scopes = preset_scopes("full_access") & role_scopes(role, false),
	};
	yyjson_val *made = json_parse_own(rq->arena, key_insert(rq, pg_text(account), &key));
	pg_query(rq, COMMAND_GIVE_SQL, pg_text(json_get_text(made, "id")), pg_text(person));
	return json_get_text(made, "key");
}

/* --- Commands --------------------------------------------------------------------------------- */

static void create_team(struct request *rq)
{
	const struct arguments *args = rq->user;
	audit_begin(rq);
	struct pg_rows *owner = pg_query(rq, COMMAND_PERSON_SQL, pg_text(args->owner));
	if (pg_empty(owner))
		raise_error(rq, ERR_NOT_FOUND, "nobody has the address %s; create-user makes them",
		            args->owner);
	const char *person = pg_json(owner);
	struct pg_rows *team = pg_query(rq, COMMAND_TEAM_SQL, pg_text(args->name), pg_text(person));
	const char *key = give_key(rq, pg_json(team), person, "owner");
	pg_commit(rq);
	puts(key);
}

int account_create_team_command(struct process *process, int argc, char **argv)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct arguments, name, "name"),
		ARGUMENT_TEXT(struct arguments, owner, "owner"),
		ARGUMENT_END,
	};
	struct arguments args = {0};
	if (!options_read(argc, argv, ARGUMENTS, &args) || !is_name(args.name) ||
	    !is_address(args.owner))
		return COMMAND_USAGE;
	return command_run(process, create_team, &args);
}

static void add_member(struct request *rq)
{
	const struct arguments *args = rq->user;
	audit_begin(rq);
	struct pg_rows *found =
		pg_query(rq, COMMAND_MEMBER_SQL, pg_text(args->account), pg_text(args->email));
	if (pg_empty(found))
		raise_error(rq, ERR_NOT_FOUND, "there is no account %s", args->account);
	const char *person = pg_json(found);
	struct pg_rows *rows = pg_query(rq, COMMAND_ADD_SQL, pg_text(args->account),
	                                pg_text(person), pg_text(args->role));
	const char *outcome = pg_value(rows, 0);
	if (strcmp(outcome, "last_owner") == 0)
		raise_error(rq, ERR_LAST_OWNER, "%s is the only owner", args->email);
	if (strcmp(outcome, "too_many") == 0)
		raise_error(rq, ERR_CONFLICT, "the account has 500 members");
	const char *key = give_key(rq, args->account, person, args->role);
	pg_commit(rq);
	member_log_role(args->account, person, args->role);
	puts(key);
}

int member_add_command(struct process *process, int argc, char **argv)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct arguments, account, "account"),
		ARGUMENT_TEXT(struct arguments, email, "email"),
		ARGUMENT_TEXT(struct arguments, role, "role"),
		ARGUMENT_END,
	};
	struct arguments args = {0};
	if (!options_read(argc, argv, ARGUMENTS, &args) || !is_id(args.account) ||
	    !is_address(args.email) || !args.role || !role_scopes(args.role, false))
		return COMMAND_USAGE;
	return command_run(process, add_member, &args);
}

static void disable_person(struct request *rq)
{
	const struct arguments *args = rq->user;
	audit_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, COMMAND_DISABLE_SQL, pg_text(args->email), pg_bool(args->undoes));
	const char *person = pg_value(rows, 0);
	if (!person)
		raise_error(rq, ERR_NOT_FOUND, "nobody has the address %s", args->email);
	pg_commit(rq);
	log_always(args->undoes ? "person enabled" : "person disabled",
	           f_text("person_id", person));
	printf("%s %s\n", args->email, args->undoes ? "enabled" : "disabled");
}

int person_disable_command(struct process *process, int argc, char **argv)
{
	static const struct argument ARGUMENTS[] = {
		ARGUMENT_TEXT(struct arguments, email, "email"),
		ARGUMENT_FLAG(struct arguments, undoes, "undo"),
		ARGUMENT_END,
	};
	struct arguments args = {0};
	if (!options_read(argc, argv, ARGUMENTS, &args) || !is_address(args.email))
		return COMMAND_USAGE;
	return command_run(process, disable_person, &args);
}
