#include "provision/proposal.h"

#include "client/service_ask.h"
#include "json/json.h"
#include "product/agent_workflow.h"
#include "provision/setup.h"
#include "service/process.h"

#include <string.h>

#define BRANCH_SUFFIX 8 /* characters of the task's id */

static const char *fresh_branch(struct request *rq, yyjson_val *row, const char *task_id)
{
	return arena_printf(rq->arena, "%s-%s", json_get_text(row, "branch"),
	                    task_id + strlen(task_id) - BRANCH_SUFFIX);
}

/* Whether the newest pull request waits to be merged, as far as is known. */
static bool is_open(yyjson_val *row)
{
	return json_get_text(row, "pr_url") && json_get_text(row, "work_branch") &&
	       !json_get_text(row, "closed_at") && !setup_is_merged(row);
}

/* Whether the newest pull request is of a fresh branch of the wanted one. */
static bool was_fresh(yyjson_val *row)
{
	const char *branch = json_get_text(row, "work_branch");
	const char *wanted = json_get_text(row, "branch");
	size_t length = strlen(wanted);
	return json_get_text(row, "pr_url") && branch && strncmp(branch, wanted, length) == 0 &&
	       branch[length] == '-' && strlen(branch) == length + 1 + BRANCH_SUFFIX;
}

/* Whether the wanted branch, or an earlier one, was merged; the workflow may have been removed
 * since. */
static bool was_merged(yyjson_val *row)
{
	return json_get_text(row, "merged_at") || was_fresh(row);
}

const char *proposal_branch(struct request *rq, yyjson_val *row, const char *task_id)
{
	if (is_open(row))
		return json_get_text(row, "work_branch");
	return was_merged(row) ? fresh_branch(rq, row, task_id) : json_get_text(row, "branch");
}

const char *proposal_workflow_there(struct request *rq, const char *repo)
{
	const char *path = agent_workflow_path(rq->arena);
	yyjson_val *file =
		service_ask(rq, INTERNAL_ID_file_get, ASK_BODY(rq, {"repo", repo}, {"path", path}));
	return json_get_text(file, "content");
}

bool proposal_is_in_place(struct request *rq, const char *repo, const char *content)
{
	const char *there = proposal_workflow_there(rq, repo);
	return there && strcmp(there, content) == 0;
}

yyjson_val *proposal_commit(struct request *rq, const struct proposal *proposal)
{
	return service_ask(rq, INTERNAL_ID_file_put,
	                   ASK_BODY(rq, {"repo", proposal->repo}, {"branch", proposal->branch},
	                            {"path", agent_workflow_path(rq->arena)},
	                            {"content", proposal->content}, {"message", proposal->title}));
}

static yyjson_val *open_pull_request(struct request *rq, const struct proposal *proposal)
{
	return service_ask(rq, INTERNAL_ID_pull_request_open,
	                   ASK_BODY(rq, {"repo", proposal->repo}, {"head", proposal->branch},
	                            {"title", proposal->title}, {"body", proposal->body}));
}

yyjson_val *proposal_open(struct request *rq, struct proposal *proposal, yyjson_val *row,
                          const char *task_id)
{
	yyjson_val *answer = open_pull_request(rq, proposal);
	bool is_merged = json_get_text(json_get(answer, "pull_request"), "merged_at");
	if (!is_merged || proposal_is_in_place(rq, proposal->repo, proposal->content))
		return answer;
	proposal->branch = fresh_branch(rq, row, task_id);
	proposal_commit(rq, proposal);
	return open_pull_request(rq, proposal);
}

const char *proposal_guide(struct arena *arena)
{
	return arena_printf(arena,
	                    "What it may do, its secrets and variables, and how to stop it: "
	                    "%s/docs/guide/workflow\n",
	                    process_settings.public_url);
}
