#include "app/app.h"

#include "app/access.h"
#include "app/app_jwt.h"
#include "app/installation.h"
#include "base/crypto.h"
#include "base/json.h"
#include "provider/provider.h"
#include "service/input.h"
#include "service/resource.h"

#define REPO_MAX     201
#define STATE_LENGTH 43

/* What an agent needs on the repository that it works on. */
static const struct permission CLIENT_PERMISSIONS[] = {
	{"contents", "write"}, {"pull_requests", "write"}, {"issues", "write"},
	{"actions", "read"},   {"metadata", "read"},       {0},
};

struct app_input {
	const char *repo;
};

static const struct field INSTALLATION_FIELDS[] = {
	QUERY_TEXT(struct app_input, repo, "repo", REQUIRED, 1, REPO_MAX),
	FIELD_END,
};

static const struct field TOKEN_FIELDS[] = {
	BODY_TEXT(struct app_input, repo, "repo", REQUIRED | TRIMMED, 1, REPO_MAX),
	FIELD_END,
};

/* The app's slug, which its page has in the address. */
static const char *ask_slug(struct request *rq)
{
	struct code_host_auth auth = app_auth(rq);
	struct code_host_answer answer = code_host_call(rq, &auth, "GET", "/app", NULL);
	const char *slug = json_get_text(answer.json, "slug");
	if (answer.status != 200 || !slug)
		raise_error(rq, ERR_UPSTREAM, "the code host does not know the app: %s",
		            code_host_reason(rq, &answer));
	return slug;
}

void app_install_url_get(struct request *rq)
{
	if (!app_is_configured()) {
		reply_json(rq, 200,
		           "{\"install_url\": null, \"state\": null, \"app_slug\": null, "
		           "\"configured\": false}");
		return;
	}
	char state[STATE_LENGTH + 1];
	random_base62(state, STATE_LENGTH);
	const char *slug = ask_slug(rq);
	reply_json(rq, 200,
	           arena_printf(rq->arena,
	                        "{\"install_url\": \"%s/apps/%s/installations/new?state=%s\", "
	                        "\"state\": \"%s\", \"app_slug\": \"%s\", \"configured\": true}",
	                        code_host_web_url(), slug, state, state, slug));
}

void app_installation_get(struct request *rq)
{
	struct app_input *in = request_input(rq, struct app_input, INSTALLATION_FIELDS);
	struct repository_name repo = repository_name_read(rq, "repo", in->repo);
	access_require(rq, &repo);
	struct installation found;
	bool is_installed = installation_find(rq, &repo, &found);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "installed", is_installed);
	yyjson_mut_obj_add_val(doc, answer, "installation_id",
	                       is_installed ? yyjson_mut_raw(doc, found.id) : yyjson_mut_null(doc));
	yyjson_mut_obj_add_str(doc, answer, "account", is_installed ? found.owner : NULL);
	yyjson_mut_obj_add_str(doc, answer, "repo", repo.full);
	yyjson_mut_obj_add_val(doc, answer, "permissions",
	                       yyjson_mut_raw(doc, is_installed ? found.permissions : "{}"));
	reply_doc(rq, 200, doc);
}

void app_token_create(struct request *rq)
{
	struct app_input *in = request_input(rq, struct app_input, TOKEN_FIELDS);
	struct repository_name repo = repository_name_read(rq, "repo", in->repo);
	access_require(rq, &repo);
	struct installation_token token = installation_token_new(rq, &repo, CLIENT_PERMISSIONS);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "token", token.token);
	yyjson_mut_obj_add_str(doc, answer, "expires_at", token.expires_at);
	yyjson_mut_obj_add_val(doc, answer, "permissions",
	                       yyjson_val_mut_copy(doc, token.permissions));
	yyjson_mut_obj_add_str(doc, answer, "repository", repo.full);
	reply_is_secret(rq);
	reply_doc(rq, 200, doc);
}
