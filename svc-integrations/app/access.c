#include "app/access.h"

#include "access.sql.h"
#include "base/json.h"
#include "connection/token.h"
#include "pg/pg.h"

#include <strings.h>

#define BELIEVED_S 300

static const char NOT_FOUND[] = "no such repository of this account";

/* An automation key that provisioning made for the repository. */
static bool has_key_for(const struct request *rq, const struct repository_name *repo)
{
	const struct identity *caller = &rq->caller;
	return caller->kind == KEY_AUTOMATION && caller->is_repo_verified && caller->repo &&
	       strcasecmp(caller->repo, repo->full) == 0;
}

/* Ask the code host with the token of the account's connection. */
static bool ask(struct request *rq, const struct repository_name *repo)
{
	struct connection_token token = connection_token(rq, &rq->caller.account, "code_host");
	const struct code_host_auth auth = {
		.token = token.access_token,
		.limit = arena_printf(rq->arena, "user %s", pg_uuid(rq->caller.account).text),
	};
	const char *path = arena_printf(rq->arena, "/repos/%s", repo->full);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", path, NULL);
	return answer.status == 200 &&
	       json_get_bool(json_get(answer.json, "permissions"), "push", false);
}

void access_require(struct request *rq, const struct repository_name *repo)
{
	if (has_key_for(rq, repo))
		return;
	struct pg_rows *known = pg_query(rq, ACCESS_GET_SQL, pg_uuid(rq->caller.account),
	                                 pg_text(repo->full), pg_int(BELIEVED_S));
	bool can_push;
	if (!pg_empty(known)) {
		can_push = pg_value_bool(known, 0, 0);
	} else {
		can_push = ask(rq, repo);
		pg_query(rq, ACCESS_STORE_SQL, pg_uuid(rq->caller.account), pg_text(repo->full),
		         pg_bool(can_push), pg_int(BELIEVED_S));
	}
	if (!can_push)
		raise_error(rq, ERR_NOT_FOUND, NOT_FOUND);
}
