#include "client/service_ask.h"
#include "implementation/implementation.h"
#include "json/json.h"
#include "product/agent_start.h"
#include "product/agent_workflow.h"
#include "run/run.h"
#include "run/steps.h"

#include <string.h>

#define LEAD_MAX_BYTES 32768 /* the code host takes 65,535 characters in all inputs together */
#define ID_SUFFIX      12    /* characters of the experiment's id */

static const char *text(const struct run *run, const char *name)
{
	return json_get_text(run->row, name);
}

static void set(struct run *run, const char *name, const char *value)
{
	yyjson_mut_obj_add_strcpy(run->doc, run->output, name, value);
}

void setup_context(struct run *run)
{
	struct request *rq = run->rq;
	const char *id = text(run, "experiment_id");
	const char *brief = implementation_brief(rq, id);
	set(run, "brief", brief);
	set(run, "work_branch",
	    arena_printf(rq->arena, "expops/experiment-%s-%d", id + strlen(id) - ID_SUFFIX,
	                 (int)json_get_int(run->row, "attempt", 0)));
	run->message = "The brief is written.";
}

/* The code host's own name of the repository. The account may push there, the app is installed, and
 * the workflow there. */
static const char *check_repository(struct run *run)
{
	struct request *rq = run->rq;
	const char *repo = text(run, "repo");
	const char *path = agent_workflow_path(rq->arena);
	yyjson_val *found = service_ask(rq, INTERNAL_ID_installation_facts_get,
	                                ASK_BODY(rq, {"repo", repo}, {"purpose", "change"}));
	const char *obstacle = json_get_text(found, "obstacle");
	if (obstacle)
		raise_error(rq, ERR_CONFLICT, "%s, then run again", obstacle);
	yyjson_val *file =
		service_ask(rq, INTERNAL_ID_file_get, ASK_BODY(rq, {"repo", repo}, {"path", path}));
	if (!json_get_bool(file, "found", false))
		raise_error(rq, ERR_CONFLICT,
		            "%s has no %s on its default branch: provision an interest there, then "
		            "run again",
		            repo, path);
	return json_get_text(file, "repo");
}

static const char *brief_path(const struct run *run)
{
	return arena_printf(run->rq->arena, ".expops/%s.md", text(run, "experiment_id"));
}

void setup_branch(struct run *run)
{
	struct request *rq = run->rq;
	const char *repo = check_repository(run);
	const char *branch = text(run, "work_branch"), *base = text(run, "base_branch");
	const char *body = ASK_BODY(rq, {"repo", repo}, {"branch", branch},
	                            {"base", base && base[0] ? base : NULL},
	                            {"path", brief_path(run)}, {"content", text(run, "brief")},
	                            {"message", "Add the brief of an experiment"});
	service_ask(rq, INTERNAL_ID_file_put, body);
	set(run, "repo", repo);
	set(run, "branch_name", branch);
	run->message =
		arena_printf(rq->arena, "The brief is on the branch %s of %s.", branch, repo);
}

/* The brief, or where it is if it is too long for an input. Its first line becomes the title of the
 * pull request. */
static const char *lead_of(const struct run *run)
{
	const char *brief = text(run, "brief");
	if (strlen(brief) <= LEAD_MAX_BYTES)
		return brief;
	int title = (int)strcspn(brief, "\n");
	return arena_printf(run->rq->arena,
	                    "%.*s\n\nThe task is described in the file `%s`. Read all of it, "
	                    "then implement it.\n",
	                    title, brief, brief_path(run));
}

/* The part of the question of workflow_dispatch that names the run of a task. */
static yyjson_mut_val *run_named(struct request *rq, yyjson_mut_doc *doc, const char *repo,
                                 const char *task)
{
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", repo);
	yyjson_mut_obj_add_str(doc, body, "workflow", agent_workflow);
	yyjson_mut_obj_add_str(doc, body, "key",
	                       arena_printf(rq->arena, "implementation %s", task));
	return body;
}

const char *run_known_body(struct request *rq, const char *repo, const char *task)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = run_named(rq, doc, repo, task);
	yyjson_mut_obj_add_bool(doc, body, "only_known", true);
	/* For a svc-integrations of the former version, which starts the run. */
	yyjson_mut_val *inputs = yyjson_mut_obj_add_obj(doc, body, "inputs");
	yyjson_mut_obj_add_str(doc, inputs, "lead_content",
	                       "This run was cancelled. Change nothing.");
	return json_write_mut(rq->arena, body, NULL);
}

static const char *dispatch_body(const struct run *run)
{
	struct request *rq = run->rq;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = run_named(rq, doc, text(run, "repo"), text(run, "task_id"));
	yyjson_mut_val *inputs = yyjson_mut_obj_add_obj(doc, body, "inputs");
	json_add_text(doc, inputs, "start_from_ref", text(run, "work_branch"));
	yyjson_mut_obj_add_str(doc, inputs, "lead_content", lead_of(run));
	return json_write_mut(rq->arena, body, NULL);
}

/* The reservation of the request may have expired while the task waited. */
static void reserve(const struct run *run)
{
	const struct agent_start start = {.key = text(run, "key"), .repo = text(run, "repo")};
	yyjson_val *refusal = agent_start_reserve(run->rq, &start);
	if (refusal)
		agent_start_refuse(run->rq, refusal);
}

void setup_dispatch(struct run *run)
{
	reserve(run);
	yyjson_val *started = agent_start_dispatch(run->rq, text(run, "key"), dispatch_body(run));
	const char *url = json_get_text(started, "html_url");
	json_add_member(run->doc, run->output, "run_id", started, "run_id");
	json_add_member(run->doc, run->output, "run_url", started, "html_url");
	json_add_member(run->doc, run->output, "dispatched_at", started, "dispatched_at");
	run->message = url ? arena_printf(run->rq->arena, "The agent works in %s.", url)
	                   : "The agent was started.";
}
