#include "repository/run.h"

#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "product/ref_name.h"
#include "reply/reply.h"

#include <inttypes.h>
#include <string.h>

#define RUN_ID_MAX 9007199254740991 /* the largest integer that every JSON reader keeps */

static const struct permission READ_PERMISSIONS[] = {{"actions", "read"}, {0}};
static const struct permission CANCEL_PERMISSIONS[] = {{"actions", "write"}, {0}};

bool workflow_name_check(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "must be the file name of a workflow, such as agent.yml";
	const char *end = text + length;
	bool is_yaml = (length > 4 && strcmp(end - 4, ".yml") == 0) ||
	               (length > 5 && strcmp(end - 5, ".yaml") == 0);
	return is_yaml && !strpbrk(text, "/\\?#%") && text[0] != '.';
}

struct run_input {
	const char *repo, *workflow, *branch;
	int64_t run_id;
};

static const struct field LATEST_FIELDS[] = {
	BODY_TEXT(struct run_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	{IN_BODY, FIELD_TEXT, "workflow", FIELD_AT(struct run_input, workflow, const char *),
         NULLABLE, 1, WORKFLOW_NAME_MAX, .check = workflow_name_check},
	{IN_BODY, FIELD_TEXT, "branch", FIELD_AT(struct run_input, branch, const char *), NULLABLE,
         1, BRANCH_NAME_MAX, .check = ref_name_check},
	BODY_INT(struct run_input, run_id, "run_id", NULLABLE, 1, RUN_ID_MAX, 0),
	FIELD_END,
};

static const struct field CANCEL_FIELDS[] = {
	BODY_TEXT(struct run_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	BODY_INT(struct run_input, run_id, "run_id", REQUIRED, 1, RUN_ID_MAX, 0),
	FIELD_END,
};

yyjson_mut_val *run_json(yyjson_mut_doc *doc, yyjson_val *run)
{
	static const char *const MEMBERS[][2] = {
		{"run_id", "id"},
		{"status", "status"},
		{"conclusion", "conclusion"},
		{"name", "name"},
		{"html_url", "html_url"},
		{"event", "event"},
		{"branch", "head_branch"},
		{"head_sha", "head_sha"},
		{"workflow_path", "path"},
		{"attempt", "run_attempt"},
		{"created_at", "created_at"},
		{"updated_at", "updated_at"},
		{"started_at", "run_started_at"},
	};
	if (!run)
		return yyjson_mut_null(doc);
	yyjson_mut_val *json = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		json_add_member(doc, json, MEMBERS[i][0], run, MEMBERS[i][1]);
	return json;
}

static yyjson_val *get(struct request *rq, const struct repository *repository, int64_t run_id)
{
	struct code_host_answer answer =
		repository_call(rq, repository, "GET", NULL, "/actions/runs/%" PRId64, run_id);
	if (answer.status != 200)
		repository_refuse(rq, &answer, "no such run");
	return answer.json;
}

static yyjson_val *find_latest(struct request *rq, const struct repository *repository,
                               const struct run_input *in)
{
	const char *of_workflow = in->workflow ? arena_printf(rq->arena, "/workflows/%s",
	                                                      query_encode(rq->arena, in->workflow))
	                                       : "";
	const char *of_branch = in->branch ? arena_printf(rq->arena, "&branch=%s",
	                                                  query_encode(rq->arena, in->branch))
	                                   : "";
	struct code_host_answer answer =
		repository_call(rq, repository, "GET", NULL, "/actions%s/runs?per_page=1%s",
	                        of_workflow, of_branch);
	if (answer.status == 404)
		return NULL;
	if (answer.status != 200)
		repository_refuse(rq, &answer, "no such workflow");
	return yyjson_arr_get_first(json_get(answer.json, "workflow_runs"));
}

void run_latest(struct request *rq)
{
	struct run_input *in = request_input(rq, struct run_input, LATEST_FIELDS);
	struct repository repository = repository_open(rq, in->repo, READ_PERMISSIONS);
	yyjson_val *run =
		in->run_id ? get(rq, &repository, in->run_id) : find_latest(rq, &repository, in);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", repository.full_name);
	yyjson_mut_obj_add_val(doc, answer, "run", run_json(doc, run));
	reply_doc(rq, 200, doc);
}

void run_cancel(struct request *rq)
{
	struct run_input *in = request_input(rq, struct run_input, CANCEL_FIELDS);
	struct repository repository = repository_open(rq, in->repo, CANCEL_PERMISSIONS);
	struct code_host_answer cancelled =
		repository_call(rq, &repository, "POST", NULL, "/actions/runs/%" PRId64 "/cancel",
	                        in->run_id);
	/* 409: it has ended. */
	if (cancelled.status != 202 && cancelled.status != 409)
		repository_refuse(rq, &cancelled, "no such run");
	yyjson_val *run = get(rq, &repository, in->run_id);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", repository.full_name);
	yyjson_mut_obj_add_bool(doc, answer, "accepted", cancelled.status == 202);
	yyjson_mut_obj_add_val(doc, answer, "run", run_json(doc, run));
	reply_doc(rq, 200, doc);
}
