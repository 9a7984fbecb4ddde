#include "provision/proposal.h"

#include "client/service_ask.h"
#include "json/json.h"
#include "product/agent_workflow.h"
#include "service/process.h"

#include <string.h>

#define BRANCH_SUFFIX 8 /* characters of the task's id */

static yyjson_val *ask(struct request *rq, enum internal_id id, const char *body)
{
	return service_ask(rq, internal_op(id), body, true);
}

const char *proposal_branch(struct request *rq, yyjson_val *row, const char *task_id)
{
	bool is_open = json_get_text(row, "proposed_version") && !json_get_text(row, "closed_at");
	if (is_open)
		return json_get_text(row, "work_branch");
	return arena_printf(rq->arena, "%s-%s", json_get_text(row, "branch"),
	                    task_id + strlen(task_id) - BRANCH_SUFFIX);
}

const char *proposal_workflow_there(struct request *rq, const char *repo)
{
	const char *path = agent_workflow_path(rq->arena);
	yyjson_val *file =
		ask(rq, INTERNAL_ID_file_get, ASK_BODY(rq, {"repo", repo}, {"path", path}));
	return json_get_text(file, "content");
}

bool proposal_is_in_place(struct request *rq, const char *repo, const char *content)
{
	const char *there = proposal_workflow_there(rq, repo);
	return there && strcmp(there, content) == 0;
}

yyjson_val *proposal_commit(struct request *rq, const struct proposal *proposal)
{
	return ask(rq, INTERNAL_ID_file_put,
	           ASK_BODY(rq, {"repo", proposal->repo}, {"branch", proposal->branch},
	                    {"path", agent_workflow_path(rq->arena)},
	                    {"content", proposal->content}, {"message", proposal->title}));
}

yyjson_val *proposal_open(struct request *rq, const struct proposal *proposal)
{
	return ask(rq, INTERNAL_ID_pull_request_open,
	           ASK_BODY(rq, {"repo", proposal->repo}, {"head", proposal->branch},
	                    {"title", proposal->title}, {"body", proposal->body}));
}

const char *proposal_guide(struct arena *arena)
{
	return arena_printf(arena,
	                    "What it may do, its secrets and variables, and how to stop it: "
	                    "%s/docs/guide/workflow\n",
	                    process_settings.public_url);
}
