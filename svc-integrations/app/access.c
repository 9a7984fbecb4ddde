#include "app/access.h"

#include "access.sql.h"
#include "base/json.h"
#include "connection/token.h"
#include "pg/pg.h"
#include "provider/provider.h"
#include "service/key_limit.h"

#define BELIEVED_S 300

static attr_noreturn void refuse(struct request *rq)
{
	raise_error(rq, ERR_NOT_FOUND,
	            "no such repository of this account; connect the code host as a user who can "
	            "push to it");
}

struct code_host_auth access_connection_auth(struct request *rq)
{
	return (struct code_host_auth){
		.token = connection_token(rq, &rq->caller.account, "code_host").access_token,
		.limit = arena_printf(rq->arena, "user %s", pg_uuid(rq->caller.account).text),
	};
}

/* What the code host says of a repository that takes no changes. */
static const char *obstacle_of(struct request *rq, const struct repository_name *repo,
                               yyjson_val *told)
{
	static const struct {
		const char *state, *remedy;
	} STATES[] = {
		{"disabled", "have it enabled there"},
		{"archived", "unarchive it"},
	};
	for (size_t i = 0; i < ARRAY_LEN(STATES); i++)
		if (json_get_bool(told, STATES[i].state, false))
			return arena_printf(rq->arena, "%s is %s at the code host: %s", repo->full,
			                    STATES[i].state, STATES[i].remedy);
	return NULL;
}

/* Ask the code host with the token of the account's connection. Sets the number of the repository,
 * unless the connection's user cannot push or, with *ret_is_refused, the code host does not accept
 * the token. */
static void ask(struct request *rq, struct repository_name *repo, bool *ret_is_refused)
{
	const struct code_host_auth auth = access_connection_auth(rq);
	const char *path = arena_printf(rq->arena, "/repos/%s", repo->full);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", path, NULL);
	*ret_is_refused = answer.status == 401;
	bool can_push = answer.status == 200 &&
	                json_get_bool(json_get(answer.json, "permissions"), "push", false);
	repo->id = can_push ? json_get_int(answer.json, "id", 0) : 0;
	repo->obstacle = can_push ? obstacle_of(rq, repo, answer.json) : NULL;
}

/* Whether the account has access, which sets the repository's number; an answer of the code host is
 * believed for `believed_s`. When it has none because its connection has ended, *ret_ended says so;
 * else that is NULL. */
static bool is_had(struct request *rq, struct repository_name *repo, int64_t believed_s,
                   const char **ret_ended)
{
	struct pg_rows *rows = pg_query(rq, ACCESS_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(repo->full), pg_int(believed_s));
	*ret_ended = NULL;
	if (pg_empty(rows))
		return false;
	repo->id = pg_value_int(rows, 0, 1);
	if (repo->id)
		return true;
	bool is_refused = !pg_value_bool(rows, 0, 2);
	if (!is_refused)
		ask(rq, repo, &is_refused);
	if (is_refused)
		*ret_ended = "the code host accepts the connection no more; connect again";
	if (repo->id)
		pg_query(rq, ACCESS_STORE_SQL, pg_uuid(rq->caller.account),
		         pg_text(pg_value(rows, 0, 0)), pg_text(repo->full), pg_int(BELIEVED_S),
		         pg_int(repo->id), pg_bool(!repo->obstacle));
	return repo->id;
}

static void tell_lost(struct request *rq, const struct repository_name *repo)
{
	pg_query(rq, ACCESS_LOST_TELL_SQL, pg_uuid(rq->caller.account), pg_text(repo->full),
	         pg_text(code_host_web_url()));
}

bool access_check(struct request *rq, struct repository_name *repo)
{
	const char *ended;
	if (is_had(rq, repo, BELIEVED_S, &ended))
		return true;
	tell_lost(rq, repo);
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
		tell_lost(rq, repo);
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
