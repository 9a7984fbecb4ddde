#include "repository/pull_request.h"

#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "product/ref_name.h"
#include "reply/reply.h"
#include "repository/branch.h"
#include "repository/replica_lock.h"

#include <inttypes.h>

#define TITLE_MAX 256
#define BODY_MAX  60000
#define SHA_MAX   64

static const struct permission PULL_PERMISSIONS[] = {
	{"pull_requests", "write"},
	{"contents", "write"},
	{"workflows", "write"}, /* to merge a change of a workflow */
	{0},
};

static const char *const METHODS[] = {"squash", "merge", "rebase", NULL};

struct open_input {
	const char *repo, *head, *base, *title, *body;
	bool is_draft;
};

static const struct field OPEN_FIELDS[] = {
	BODY_TEXT(struct open_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	{IN_BODY, FIELD_TEXT, "head", FIELD_AT(struct open_input, head, const char *), REQUIRED, 1,
         BRANCH_NAME_MAX, .check = ref_name_check},
	{IN_BODY, FIELD_TEXT, "base", FIELD_AT(struct open_input, base, const char *), NULLABLE, 1,
         BRANCH_NAME_MAX, .check = ref_name_check},
	BODY_TEXT(struct open_input, title, "title", REQUIRED, 1, TITLE_MAX),
	BODY_TEXT(struct open_input, body, "body", NULLABLE, 0, BODY_MAX),
	BODY_BOOL(struct open_input, is_draft, "draft", OPTIONAL, false),
	FIELD_END,
};

struct merge_input {
	const char *repo, *method, *sha;
	int64_t number;
};

static const struct field MERGE_FIELDS[] = {
	BODY_TEXT(struct merge_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	BODY_INT(struct merge_input, number, "number", REQUIRED, 1, INT32_MAX, 0),
	BODY_ENUM(struct merge_input, method, "method", OPTIONAL, METHODS),
	BODY_TEXT(struct merge_input, sha, "sha", NULLABLE, 1, SHA_MAX),
	FIELD_END,
};

static bool is_merged(yyjson_val *pull)
{
	return yyjson_is_str(json_get(pull, "merged_at"));
}

yyjson_mut_val *pull_request_json(yyjson_mut_doc *doc, yyjson_val *pull)
{
	static const char *const SAME[] = {"number",     "html_url",  "title",
	                                   "state",      "draft",     "created_at",
	                                   "updated_at", "closed_at", "merged_at"};
	yyjson_mut_val *json = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(SAME); i++)
		json_add_member(doc, json, SAME[i], pull, SAME[i]);
	yyjson_mut_obj_add_bool(doc, json, "merged", is_merged(pull));
	json_add_member(doc, json, "head", json_get(pull, "head"), "ref");
	json_add_member(doc, json, "head_sha", json_get(pull, "head"), "sha");
	json_add_member(doc, json, "head_repo", json_get(json_get(pull, "head"), "repo"),
	                "full_name");
	json_add_member(doc, json, "base", json_get(pull, "base"), "ref");
	json_add_member(doc, json, "author", json_get(pull, "user"), "login");
	return json;
}

static void reply(struct request *rq, const struct repository *repository, const char *name,
                  bool value, yyjson_val *pull)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", repository->full_name);
	yyjson_mut_obj_add_bool(doc, answer, name, value);
	yyjson_mut_obj_add_val(doc, answer, "pull_request", pull_request_json(doc, pull));
	reply_doc(rq, 200, doc);
}

static bool is_open(yyjson_val *pull)
{
	return yyjson_equals_str(json_get(pull, "state"), "open");
}

/* The newest pull request of the branches in that state (`open`, `closed`); NULL: there is none. */
static yyjson_val *find(struct request *rq, const struct repository *repository,
                        const struct open_input *in, const char *state)
{
	const char *owner = arena_strndup(rq->arena, repository->full_name,
	                                  strcspn(repository->full_name, "/"));
	const char *head = arena_printf(rq->arena, "%s:%s", owner, in->head);
	struct code_host_answer answer = repository_call(
		rq, repository, "GET", NULL,
		"/pulls?state=%s&head=%s&base=%s&sort=created&direction=desc&per_page=1", state,
		query_encode(rq->arena, head), query_encode(rq->arena, in->base));
	if (answer.status != 200)
		repository_refuse(rq, &answer, "no such repository");
	return yyjson_arr_get_first(answer.json);
}

static struct code_host_answer create(struct request *rq, const struct repository *repository,
                                      const struct open_input *in)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "title", in->title);
	yyjson_mut_obj_add_str(doc, body, "head", in->head);
	yyjson_mut_obj_add_str(doc, body, "base", in->base);
	yyjson_mut_obj_add_str(doc, body, "body", in->body ? in->body : "");
	yyjson_mut_obj_add_bool(doc, body, "draft", in->is_draft);
	return repository_call(rq, repository, "POST", body, "/pulls");
}

/* What there is when the code host refuses to open another one (422): one that somebody else has
 * just opened, or none, because everything is merged. */
static yyjson_val *find_instead(struct request *rq, const struct repository *repository,
                                const struct open_input *in, const struct code_host_answer *refusal)
{
	if (refusal->status != 422)
		repository_refuse(rq, refusal, "no such branch");
	yyjson_val *pull = find(rq, repository, in, "open");
	if (!pull)
		pull = find(rq, repository, in, "closed");
	if (!is_open(pull) && !is_merged(pull))
		repository_refuse(rq, refusal, "no such branch");
	return pull;
}

void pull_request_open(struct request *rq)
{
	struct open_input *in = request_input(rq, struct open_input, OPEN_FIELDS);
	struct repository repository = repository_open(rq, in->repo, PULL_PERMISSIONS);
	if (!in->base)
		in->base = branch_default(rq, &repository);
	branch_lock(rq, &repository, in->head);
	yyjson_val *pull = find(rq, &repository, in, "open");
	bool is_new = false;
	if (!pull) {
		struct code_host_answer answer = create(rq, &repository, in);
		is_new = answer.status == 201;
		pull = is_new ? answer.json : find_instead(rq, &repository, in, &answer);
	}
	replica_lock_give_up(rq);
	reply(rq, &repository, "created", is_new, pull);
}

static yyjson_val *get(struct request *rq, const struct repository *repository, int64_t number)
{
	struct code_host_answer answer =
		repository_call(rq, repository, "GET", NULL, "/pulls/%" PRId64, number);
	if (answer.status != 200)
		repository_refuse(rq, &answer, "no such pull request");
	return answer.json;
}

static void merge(struct request *rq, const struct repository *repository,
                  const struct merge_input *in)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "merge_method", in->method ? in->method : METHODS[0]);
	if (in->sha)
		yyjson_mut_obj_add_str(doc, body, "sha", in->sha);
	struct code_host_answer answer = repository_call(rq, repository, "PUT", body,
	                                                 "/pulls/%" PRId64 "/merge", in->number);
	/* Another request may have been faster. */
	if (answer.status != 200 && !is_merged(get(rq, repository, in->number)))
		repository_refuse(rq, &answer, "no such pull request");
}

void pull_request_merge(struct request *rq)
{
	struct merge_input *in = request_input(rq, struct merge_input, MERGE_FIELDS);
	struct repository repository = repository_open(rq, in->repo, PULL_PERMISSIONS);
	yyjson_val *pull = get(rq, &repository, in->number);
	const char *base = json_get_text(json_get(pull, "base"), "ref");
	if (!is_merged(pull) && base) {
		branch_lock(rq, &repository, base);
		merge(rq, &repository, in);
		replica_lock_give_up(rq);
		pull = get(rq, &repository, in->number);
	}
	reply(rq, &repository, "merged", is_merged(pull), pull);
}
