#include "app/access.h"

#include "access.sql.h"
#include "base/timefmt.h"
#include "connection/token.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/pg.h"
#include "provider/provider.h"

#include <string.h>
#include <strings.h>

#define BELIEVED_S 300
#define CODE_HOST  "code_host"

static attr_noreturn void refuse(struct request *rq)
{
	raise_error(rq, ERR_NOT_FOUND,
	            "no such repository of this account; connect the code host as a user who can "
	            "push to it");
}

static const char *token_of(struct request *rq)
{
	return connection_token(rq, &rq->caller.account, CODE_HOST).access_token;
}

/* A token ends when another request refreshes it. */
static bool renew(struct request *rq, struct code_host_auth *auth, int status)
{
	const char *token = status == 401 ? token_of(rq) : auth->token;
	bool is_another = strcmp(token, auth->token) != 0;
	auth->token = token;
	return is_another;
}

struct code_host_auth access_connection_auth(struct request *rq)
{
	return (struct code_host_auth){
		.token = token_of(rq),
		.limit = arena_printf(rq->arena, "user %s", pg_uuid(rq->caller.account).text),
		.renew = renew,
	};
}

/* What the code host says of a repository that takes no changes. */
static const char *obstacle_of(struct request *rq, const struct repository_name *repo,
                               yyjson_val *shown)
{
	static const struct {
		const char *state, *remedy;
	} STATES[] = {
		{"disabled", "have it enabled there"},
		{"archived", "unarchive it"},
	};
	for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
		if (json_get_bool(shown, STATES[i].state, false))
			return arena_printf(rq->arena, "%s is %s at the code host: %s", repo->full,
			                    STATES[i].state, STATES[i].remedy);
	return NULL;
}

/* Ask the code host with the token of the account's connection. The repository as it is described;
 * NULL: its user cannot push, or with *ret_is_refused the connection has ended. An answer that says
 * neither, such as that a network or a session is not admitted, raises ERR_UNAVAILABLE. */
static yyjson_val *ask(struct request *rq, const struct repository_name *repo, bool *ret_is_refused)
{
	const struct code_host_auth auth = access_connection_auth(rq);
	const char *path = arena_printf(rq->arena, "/repos/%s", repo->full);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", path, NULL);
	*ret_is_refused = answer.status == 401;
	if (*ret_is_refused)
		connection_refused(rq, CODE_HOST);
	else if (answer.status == 200 || answer.status == 404)
		connection_accepted(rq, CODE_HOST);
	else
		raise_error(rq, ERR_UNAVAILABLE,
		            "the code host does not say who can push to %s: %s", repo->full,
		            code_host_reason(rq, &answer));
	bool can_push = answer.status == 200 &&
	                json_get_bool(json_get(answer.json, "permissions"), "push", false);
	return can_push && json_get_int(answer.json, "id", 0) > 0 ? answer.json : NULL;
}

/* Take the number of the repository from the code host's description, its obstacle, and its name,
 * which may be another one than it was asked for by. */
static void take_description(struct request *rq, struct repository_name *repo,
                             yyjson_val *description)
{
	const char *name = json_get_text(description, "full_name");
	const char *at = json_get_text(description, "updated_at");
	int64_t number = json_get_int(description, "id", 0), at_ms;
	if (name && repository_name_is_valid(name)) {
		bool is_time = at && time_parse(at, strlen(at), &at_ms);
		pg_query(rq, ACCESS_NAME_RECORD_SQL, pg_int(number), pg_text(name),
		         pg_text(repo->full), pg_text(is_time ? at : NULL),
		         pg_text(code_host_web_url()));
		*repo = repository_name_read(rq, "repo", name);
	}
	repo->id = number;
	repo->obstacle = obstacle_of(rq, repo, description);
}

/* What is known before the code host is asked. */
struct known_access {
	const char *connection;
	int64_t number; /* of the repository that has, or last had, the name; 0: unknown */
};

/* Ask whether the account has access, which sets the repository's number and name; remember a yes.
 * A key that is bound to a repository does not open another one that has taken its name. */
static bool ask_access(struct request *rq, struct repository_name *repo,
                       const struct known_access *known, bool *ret_is_refused)
{
	const char *asked = repo->full;
	yyjson_val *description = ask(rq, repo, ret_is_refused);
	if (!description)
		return false;
	take_description(rq, repo, description);
	if (rq->caller.repo && known->number && known->number != repo->id)
		refuse(rq);
	pg_query(rq, ACCESS_STORE_SQL, pg_uuid(rq->caller.account), pg_text(known->connection),
	         pg_text(asked), pg_int(BELIEVED_S), pg_int(repo->id), pg_bool(!repo->obstacle),
	         pg_text(repo->full));
	return true;
}

/* Take the number of a repository whose access is believed, and the name that it has now. */
static void take_believed(struct request *rq, struct repository_name *repo, int64_t number,
                          const char *name)
{
	if (name && strcasecmp(repo->full, name) != 0)
		*repo = repository_name_read(rq, "repo", name);
	repo->id = number;
}

/* Whether the account has access, which sets the repository's number, and its name now; an answer
 * of the code host is believed for `believed_s`. When it has none because its connection has ended,
 * *ret_ended says so; else that is NULL. */
static bool is_had(struct request *rq, struct repository_name *repo, int64_t believed_s,
                   const char **ret_ended)
{
	struct pg_rows *rows = pg_query(rq, ACCESS_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(repo->full), pg_int(believed_s));
	*ret_ended = NULL;
	if (pg_empty(rows))
		return false;
	if (pg_get_int(rows, 0, "repository_id")) {
		take_believed(rq, repo, pg_get_int(rows, 0, "repository_id"),
		              pg_get(rows, 0, "name"));
		return true;
	}
	const struct known_access known = {pg_get(rows, 0, "id"),
	                                   pg_get_int(rows, 0, "known_number")};
	bool is_refused = !pg_get_bool(rows, 0, "is_active");
	bool has_access = !is_refused && ask_access(rq, repo, &known, &is_refused);
	if (is_refused)
		*ret_ended = "the code host accepts the connection no more; connect again";
	return has_access;
}

static void announce_lost(struct request *rq, const struct repository_name *repo)
{
	pg_query(rq, ACCESS_LOST_ANNOUNCE_SQL, pg_uuid(rq->caller.account), pg_text(repo->full),
	         pg_text(code_host_web_url()));
}

bool access_check(struct request *rq, struct repository_name *repo)
{
	const char *ended;
	if (is_had(rq, repo, BELIEVED_S, &ended))
		return true;
	announce_lost(rq, repo);
	return false;
}

/* As access_is_had(), where an answer of the code host is believed for `believed_s`. */
static bool is_open(struct request *rq, struct repository_name *repo, int64_t believed_s)
{
	const struct identity *caller = &rq->caller;
	const char *ended;
	require_repo(rq, repo->full);
	if (caller->kind == KEY_AUTOMATION && !caller->repo)
		return false;
	if (is_had(rq, repo, believed_s, &ended))
		return true;
	if (caller->is_repo_verified)
		announce_lost(rq, repo);
	if (ended)
		raise_error(rq, ERR_CONFLICT, "%s", ended);
	return false;
}

bool access_is_had(struct request *rq, struct repository_name *repo)
{
	return is_open(rq, repo, BELIEVED_S);
}

void access_require(struct request *rq, struct repository_name *repo)
{
	if (!is_open(rq, repo, BELIEVED_S))
		refuse(rq);
}

void access_require_anew(struct request *rq, struct repository_name *repo)
{
	if (!is_open(rq, repo, 0))
		refuse(rq);
}
