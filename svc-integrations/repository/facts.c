#include "repository/facts.h"

#include "app/access.h"
#include "app/app.h"
#include "app/app_jwt.h"
#include "input/input.h"
#include "json/json.h"
#include "reply/reply.h"
#include "repository/content.h"
#include "repository/repository.h"
#include "service/repository_name.h"

#include <string.h>

#define README_MAX_BYTES ((size_t)256 * 1024)

static const struct permission READ_PERMISSIONS[] = {
	{"contents", "read"},
	{"metadata", "read"},
	{0},
};

/* Members that are answered as the code host names them. */
static const char *const FACTS[] = {
	"id",        "html_url",         "description", "homepage", "language",
	"topics",    "default_branch",   "private",     "archived", "fork",
	"pushed_at", "stargazers_count", "updated_at",
};

struct facts_input {
	const char *repo, *purpose;
};

static const char *const PURPOSES[] = {"change", NULL};

static const struct field INSTALLATION_FIELDS[] = {
	BODY_TEXT(struct facts_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	BODY_ENUM(struct facts_input, purpose, "purpose", OPTIONAL, PURPOSES),
	FIELD_END,
};

static const struct field FACTS_FIELDS[] = {
	BODY_TEXT(struct facts_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	FIELD_END,
};

struct names_input {
	const char *repo, *other;
};

static const struct field NAMES_FIELDS[] = {
	BODY_TEXT(struct names_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	BODY_TEXT(struct names_input, other, "other", REQUIRED, 1, REPOSITORY_NAME_MAX),
	FIELD_END,
};

void code_host_status_get(struct request *rq)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "configured", app_is_configured(rq));
	reply_doc(rq, 200, doc);
}

/* Why nothing can be changed in the repository through the app; NULL: it can. */
static const char *obstacle_of(struct request *rq, const struct repository_name *repo,
                               const struct installation *installation)
{
	if (!installation)
		return arena_printf(rq->arena, "the app is not installed on %s: install it",
		                    repo->full);
	return installation->suspended_at ? installation_suspended(rq, repo) : repo->obstacle;
}

void installation_facts_get(struct request *rq)
{
	struct facts_input *in = request_input(rq, struct facts_input, INSTALLATION_FIELDS);
	struct repository_name name = repository_name_read(rq, "repo", in->repo);
	struct installation found;
	if (in->purpose)
		access_require_anew(rq, &name);
	else
		access_require(rq, &name);
	bool is_found = installation_find(rq, &name, &found);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = app_installation_json(&name, is_found ? &found : NULL, doc);
	yyjson_mut_doc_set_root(doc, answer);
	json_add_text(doc, answer, "obstacle", obstacle_of(rq, &name, is_found ? &found : NULL));
	reply_doc(rq, 200, doc);
}

void repository_access_get(struct request *rq)
{
	struct facts_input *in = request_input(rq, struct facts_input, FACTS_FIELDS);
	struct repository_name name = repository_name_read(rq, "repo", in->repo);
	reply_json(rq, 200, access_check(rq, &name) ? "{\"access\": true}" : "{\"access\": false}");
}

void repository_names_compare(struct request *rq)
{
	struct names_input *in = request_input(rq, struct names_input, NAMES_FIELDS);
	reply_json(rq, 200,
	           repository_is_same(rq, in->repo, in->other) ? "{\"same\": true}"
	                                                       : "{\"same\": false}");
}

/* Open the repository for reading: by the app where it is installed, else by the account's
 * connection. */
static struct repository open_to_read(struct request *rq, const char *repo)
{
	struct repository_name name = repository_name_read(rq, "repo", repo);
	access_require(rq, &name);
	struct installation installation;
	if (rq->caller.is_repo_verified ||
	    (app_is_configured(rq) && installation_find(rq, &name, &installation) &&
	     !installation.suspended_at))
		return repository_open_checked(rq, &name, READ_PERMISSIONS);
	return (struct repository){.full_name = name.full, .auth = access_connection_auth(rq)};
}

/* The README; null where there is none. */
static yyjson_mut_val *readme_json(struct request *rq, const struct repository *repository,
                                   yyjson_mut_doc *doc)
{
	struct code_host_answer answer = repository_call(rq, repository, "GET", NULL, "/readme");
	bool is_cut;
	const char *text = answer.status == 200
	                           ? content_text(rq, answer.json, README_MAX_BYTES, &is_cut)
	                           : NULL;
	if (!text)
		return yyjson_mut_null(doc);
	yyjson_mut_val *readme = yyjson_mut_obj(doc);
	json_add_member(doc, readme, "path", answer.json, "path");
	yyjson_mut_obj_add_str(doc, readme, "text", text);
	yyjson_mut_obj_add_bool(doc, readme, "is_cut", is_cut);
	return readme;
}

void repository_facts_get(struct request *rq)
{
	struct facts_input *in = request_input(rq, struct facts_input, FACTS_FIELDS);
	struct repository repository = open_to_read(rq, in->repo);
	struct code_host_answer answer = repository_call(rq, &repository, "GET", NULL, "%s", "");
	if (answer.status != 200)
		repository_refuse(rq, &answer, "no such repository");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *facts = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, facts);
	json_add_member(doc, facts, "repo", answer.json, "full_name");
	for (size_t i = 0; i < ARRAY_LEN(FACTS); i++)
		json_add_member(doc, facts, FACTS[i], answer.json, FACTS[i]);
	json_add_member(doc, facts, "license", json_get(answer.json, "license"), "spdx_id");
	yyjson_mut_obj_add_val(doc, facts, "readme", readme_json(rq, &repository, doc));
	reply_doc(rq, 200, doc);
}
