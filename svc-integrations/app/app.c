#include "app/app.h"

#include "app/access.h"
#include "app/installation.h"
#include "base/timefmt.h"
#include "input/input.h"
#include "json/json.h"
#include "reply/reply.h"

#include <string.h>

#define TOKEN_LIFE_MIN INT64_C(3300000) /* 55 minutes */

/* What an agent needs on the repository that it works on. */
static const struct permission CLIENT_PERMISSIONS[] = {
	{"contents", "write"}, {"pull_requests", "write"}, {"issues", "write"},
	{"actions", "read"},   {"metadata", "read"},       {0},
};

struct app_input {
	const char *repo;
};

static const struct field INSTALLATION_FIELDS[] = {
	{IN_QUERY, FIELD_TEXT, "repo", FIELD_AT(struct app_input, repo, const char *), REQUIRED, 1,
         REPOSITORY_NAME_MAX, .check = repository_name_check},
	FIELD_END,
};

static const struct field TOKEN_FIELDS[] = {
	{IN_BODY, FIELD_TEXT, "repo", FIELD_AT(struct app_input, repo, const char *),
         REQUIRED | TRIMMED, 1, REPOSITORY_NAME_MAX, .check = repository_name_check},
	FIELD_END,
};

yyjson_mut_val *app_installation_json(const struct repository_name *repo,
                                      const struct installation *found, yyjson_mut_doc *doc)
{
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_bool(doc, answer, "installed", found && !found->suspended_at);
	yyjson_mut_obj_add_val(doc, answer, "installation_id",
	                       found ? yyjson_mut_raw(doc, found->id) : yyjson_mut_null(doc));
	json_add_text(doc, answer, "account", found ? found->owner : NULL);
	yyjson_mut_obj_add_str(doc, answer, "repo", repo->full);
	yyjson_mut_obj_add_val(doc, answer, "permissions",
	                       yyjson_mut_raw(doc, found ? found->permissions : "{}"));
	json_add_text(doc, answer, "suspended_at", found ? found->suspended_at : NULL);
	return answer;
}

void app_installation_get(struct request *rq)
{
	struct app_input *in = request_input(rq, struct app_input, INSTALLATION_FIELDS);
	struct repository_name repo = repository_name_read(rq, "repo", in->repo);
	struct installation found;
	bool is_found = access_is_had(rq, &repo) && installation_find(rq, &repo, &found);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_doc_set_root(doc, app_installation_json(&repo, is_found ? &found : NULL, doc));
	reply_doc(rq, 200, doc);
}

/* The end of the token, as the API shows times. A client relies on 55 minutes. */
static const char *end_of(struct request *rq, const struct installation_token *token)
{
	int64_t end_ms;
	const char *text = token->expires_at ? token->expires_at : "";
	if (!time_parse(text, strlen(text), &end_ms) || end_ms - time_now_ms() < TOKEN_LIFE_MIN)
		raise_error(rq, ERR_UPSTREAM,
		            "the code host gave a token that ends within 55 minutes");
	char *shown = arena_alloc(rq->arena, TIME_TEXT_LEN + 1);
	time_format(end_ms, shown);
	return shown;
}

void app_token_create(struct request *rq)
{
	struct app_input *in = request_input(rq, struct app_input, TOKEN_FIELDS);
	struct repository_name repo = repository_name_read(rq, "repo", in->repo);
	access_require(rq, &repo);
	installation_lookup_count(rq);
	struct installation_token token = installation_token_new(rq, &repo, CLIENT_PERMISSIONS);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "token", token.token);
	yyjson_mut_obj_add_str(doc, answer, "expires_at", end_of(rq, &token));
	yyjson_mut_obj_add_val(doc, answer, "permissions",
	                       yyjson_val_mut_copy(doc, token.permissions));
	yyjson_mut_obj_add_str(doc, answer, "repository", token.repo);
	reply_is_secret(rq);
	reply_doc(rq, 200, doc);
}
