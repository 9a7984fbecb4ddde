#include "app/installation.h"

#include "app/app_jwt.h"
#include "base/json.h"
#include "installation.sql.h"
#include "pg/pg.h"

#include <string.h>

#define BELIEVED_S 3600

/* Ask the code host. False: the app is not installed there. */
static bool ask(struct request *rq, const struct repository_name *repo, struct installation *found)
{
	struct code_host_auth auth = app_auth(rq);
	const char *path = arena_printf(rq->arena, "/repos/%s/installation", repo->full);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", path, NULL);
	if (answer.status != 200) {
		pg_query(rq, INSTALLATION_FORGET_REPO_SQL, pg_text(repo->full));
		return false;
	}
	yyjson_val *permissions = json_get(answer.json, "permissions");
	*found = (struct installation){
		.id = arena_printf(rq->arena, "%lld",
	                           (long long)json_get_int(answer.json, "id", 0)),
		.owner = json_get_text(json_get(answer.json, "account"), "login"),
		.permissions = permissions ? json_write(rq->arena, permissions, NULL) : "{}",
	};
	pg_query(rq, INSTALLATION_STORE_SQL, pg_text(repo->full), pg_text(found->id),
	         pg_text(found->owner ? found->owner : repo->owner), pg_text(found->permissions));
	return true;
}

bool installation_find(struct request *rq, const struct repository_name *repo,
                       struct installation *ret_installation)
{
	struct pg_rows *rows =
		pg_query(rq, INSTALLATION_GET_SQL, pg_text(repo->full), pg_int(BELIEVED_S));
	if (pg_empty(rows))
		return ask(rq, repo, ret_installation);
	*ret_installation = (struct installation){
		.id = pg_value(rows, 0, 0),
		.owner = pg_value(rows, 0, 1),
		.permissions = pg_value(rows, 0, 2),
	};
	return true;
}

void installation_forget(struct request *rq, const char *installation_id)
{
	pg_query(rq, INSTALLATION_FORGET_SQL, pg_text(installation_id));
}

/* The body of a request for a token: this repository, and those of the permissions that the app has. The code
 * host refuses a request for more. */
static yyjson_mut_val *token_body(struct request *rq, const struct repository_name *repo,
                                  const struct installation *installation,
                                  const struct permission *permissions)
{
	yyjson_val *given = NULL;
	if (json_parse(rq->arena, installation->permissions, strlen(installation->permissions),
	               &given, NULL))
		given = NULL;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, body, "repositories"), repo->name);
	yyjson_mut_val *asked = yyjson_mut_obj_add_obj(doc, body, "permissions");
	for (; permissions->name; permissions++) {
		const char *level = json_get_text(given, permissions->name);
		bool is_lower = level && strcmp(level, "read") == 0;
		if (level)
			yyjson_mut_obj_add_str(doc, asked, permissions->name,
			                       is_lower ? "read" : permissions->level);
	}
	return body;
}

static struct code_host_answer ask_token(struct request *rq, const struct repository_name *repo,
                                         const struct installation *installation,
                                         const struct permission *permissions)
{
	struct code_host_auth auth = app_auth(rq);
	const char *path =
		arena_printf(rq->arena, "/app/installations/%s/access_tokens", installation->id);
	return code_host_call(rq, &auth, "POST", path,
	                      token_body(rq, repo, installation, permissions));
}

struct installation_token installation_token_new(struct request *rq,
                                                 const struct repository_name *repo,
                                                 const struct permission *permissions)
{
	struct installation installation;
	struct code_host_answer answer = {.status = 404};
	for (int tries = 0; tries < 2 && answer.status == 404; tries++) {
		if (tries > 0)
			installation_forget(rq, installation.id);
		if (!installation_find(rq, repo, &installation))
			raise_error(rq, ERR_NOT_FOUND,
			            "the app is not installed on this repository");
		answer = ask_token(rq, repo, &installation, permissions);
	}
	if (answer.status == 404)
		raise_error(rq, ERR_NOT_FOUND, "the app is not installed on this repository");
	const char *token = json_get_text(answer.json, "token");
	if (answer.status != 201 || !token)
		raise_error(rq, ERR_CONFLICT, "the code host gives no token: %s",
		            code_host_reason(rq, &answer));
	return (struct installation_token){
		.token = token,
		.expires_at = json_get_text(answer.json, "expires_at"),
		.permissions = json_get(answer.json, "permissions"),
		.auth = {.token = token,
	                 .limit = arena_printf(rq->arena, "installation %s", installation.id)},
	};
}
