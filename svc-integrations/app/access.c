#include "app/access.h"

#include "access.sql.h"
#include "base/json.h"
#include "connection/token.h"
#include "pg/pg.h"
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

/* Ask the code host with the token of the account's connection. The number of the repository; 0:
 * its user cannot push. */
static int64_t ask(struct request *rq, const struct repository_name *repo)
{
	const struct code_host_auth auth = access_connection_auth(rq);
	const char *path = arena_printf(rq->arena, "/repos/%s", repo->full);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", path, NULL);
	if (answer.status == 401)
		raise_error(rq, ERR_CONFLICT,
		            "the code host accepts the connection no more; connect again");
	bool can_push = answer.status == 200 &&
	                json_get_bool(json_get(answer.json, "permissions"), "push", false);
	return can_push ? json_get_int(answer.json, "id", 0) : 0;
}

void access_require(struct request *rq, struct repository_name *repo)
{
	const struct identity *caller = &rq->caller;
	require_repo(rq, repo->full);
	if (caller->repo && caller->is_repo_verified)
		return;
	if (caller->kind == KEY_AUTOMATION && !caller->repo)
		refuse(rq);
	struct pg_rows *rows = pg_query(rq, ACCESS_GET_SQL, pg_uuid(caller->account),
	                                pg_text(repo->full), pg_int(BELIEVED_S));
	if (pg_empty(rows))
		refuse(rq);
	repo->id = pg_value_int(rows, 0, 1);
	if (repo->id)
		return;
	repo->id = ask(rq, repo);
	if (!repo->id)
		refuse(rq);
	pg_query(rq, ACCESS_STORE_SQL, pg_uuid(caller->account), pg_text(pg_value(rows, 0, 0)),
	         pg_text(repo->full), pg_int(BELIEVED_S), pg_int(repo->id));
}
