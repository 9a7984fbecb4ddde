#include "provision/setup.h"

#include "base/outside_text.h"
#include "base/timefmt.h"
#include "client/service_ask.h"
#include "json/json.h"
#include "pg/pg.h"
#include "product/agent_start.h"
#include "product/agent_workflow.h"
#include "provision/proposal.h"
#include "provision/workflow_file.h"
#include "steps.sql.h"

#include <string.h>
#include <strings.h>

#define KEY_SECRET "EXPOPS_KEY"
#define MODEL_URL  "EXPOPS_MODEL_URL"

#define KEY_SOON_MS (INT64_C(30) * 24 * 60 * 60 * 1000)

/* --- Reading the row and setting results ------------------------------------------------------ */

static const char *text(const struct provision *p, const char *name)
{
	return json_get_text(p->row, name);
}

static void set(struct provision *p, const char *name, const char *value)
{
	yyjson_mut_obj_put(p->output, yyjson_mut_str(p->doc, name),
	                   value ? yyjson_mut_strcpy(p->doc, value) : yyjson_mut_null(p->doc));
}

static void set_bool(struct provision *p, const char *name, bool value)
{
	yyjson_mut_obj_put(p->output, yyjson_mut_str(p->doc, name), yyjson_mut_bool(p->doc, value));
}

static void skip(struct provision *p, const char *message)
{
	p->is_skipped = true;
	p->message = message;
}

/* --- The steps -------------------------------------------------------------------------------- */

void setup_require_app(struct request *rq, const char *repo)
{
	yyjson_val *found = service_ask(rq, INTERNAL_ID_installation_facts_get,
	                                ASK_BODY(rq, {"repo", repo}, {"purpose", "change"}));
	const char *obstacle = json_get_text(found, "obstacle");
	if (obstacle)
		raise_error(rq, ERR_CONFLICT, "%s, then provision again", obstacle);
}

void setup_repository(struct provision *p)
{
	yyjson_val *facts = service_ask(p->rq, INTERNAL_ID_repository_facts_get,
	                                ASK_BODY(p->rq, {"repo", text(p, "repo")}));
	const char *repo = json_get_text(facts, "repo");
	setup_require_app(p->rq, repo);
	set(p, "repo", repo);
	p->message = arena_printf(p->rq->arena, "The app is installed on %s.", repo);
}

void setup_revoke_key(struct request *rq, const char *key_id)
{
	service_ask_found(rq, INTERNAL_ID_provisioned_key_revoke, ASK_BODY(rq, {"key_id", key_id}));
}

static const char *key_purpose(struct arena *arena, const char *interest)
{
	return arena_printf(arena, "agent %s", interest);
}

/* A gateway of the former version takes an id alone, and refuses this until it is replaced. */
void setup_revoke_key_of(struct request *rq, const char *interest)
{
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_provisioned_key_revoke,
	                        ASK_BODY(rq, {"purpose", key_purpose(rq->arena, interest)}), NULL);
	if (answer.code == ERR_INVALID)
		raise_error(rq, ERR_UNAVAILABLE, "the gateway cannot revoke the agent's key yet");
	if (answer.code && answer.code != ERR_NOT_FOUND)
		service_answer_raise(rq, &answer);
}

static bool has_secret(const struct provision *p)
{
	const char *body = ASK_BODY(p->rq, {"repo", text(p, "repo")}, {"name", KEY_SECRET});
	return json_get_bool(service_ask(p->rq, INTERNAL_ID_secret_get, body), "found", false);
}

/* Whether the key that the row names is valid, for a month at least, and the repository has it. */
static bool has_valid_key(const struct provision *p)
{
	const char *key = text(p, "key_id");
	if (!key || !json_get_bool(p->row, "key_is_fresh", false))
		return false;
	yyjson_val *found = service_ask_found(p->rq, INTERNAL_ID_provisioned_key_get,
	                                      ASK_BODY(p->rq, {"key_id", key}));
	const char *status = json_get_text(found, "status");
	return status && strcmp(status, "active") == 0 && has_secret(p);
}

/* A repository's secret holds the key of one agent. Another account's is not overwritten unawares:
 * who may push there can remove the secret, which ends that agent. */
static void take_repository(const struct provision *p)
{
	if (json_get_bool(p->row, "is_taken", false))
		raise_error(p->rq, ERR_CONFLICT,
		            "%s works for another interest; revoke that agent first",
		            text(p, "repo"));
	if (!json_get_bool(p->row, "is_shared", false))
		return;
	if (has_secret(p))
		raise_error(
			p->rq, ERR_CONFLICT,
			"an agent of another account works on %s: have it revoked, or remove the "
			"secret " KEY_SECRET " of the repository, then provision again",
			text(p, "repo"));
	pg_query(p->rq, STEP_SUPERSEDE_SQL, pg_text(text(p, "interest_id")));
}

/* Make the agent's key, on behalf of the key that asked for the agent. The one that an earlier
 * attempt made, whose text is lost, ends with that. */
static yyjson_val *make_key(const struct provision *p)
{
	struct request *rq = p->rq;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	const char *repo = text(p, "repo"), *interest = text(p, "interest_id");
	yyjson_mut_obj_add_str(doc, body, "name",
	                       arena_printf(rq->arena, "%s on %s", text(p, "agent"), repo));
	yyjson_mut_obj_add_str(doc, body, "purpose", key_purpose(rq->arena, interest));
	yyjson_mut_obj_add_str(doc, body, "repo", repo);
	yyjson_mut_obj_add_str(doc, body, "interest_id", interest);
	json_add_text(doc, body, "maker_id", text(p, "maker_id"));
	yyjson_mut_obj_add_bool(doc, body, "repo_verified", true);
	return service_ask(rq, INTERNAL_ID_provisioned_key_create,
	                   json_write_mut(rq->arena, body, NULL));
}

/* A key lives no longer than the one on whose behalf it is made. */
static const char *key_message(struct request *rq, const char *expires_at)
{
	int64_t end_ms;
	if (!expires_at || !time_parse(expires_at, strlen(expires_at), &end_ms) ||
	    end_ms > time_now_ms() + KEY_SOON_MS)
		return "The repository has a new key in its secret " KEY_SECRET ".";
	return arena_printf(rq->arena,
	                    "The repository has a new key in its secret " KEY_SECRET
	                    ". It expires on %.10s with the key that asked for it: "
	                    "provision again by one that lives longer.",
	                    expires_at);
}

/* The key and the secret are one step: the key's text exists in between only. */
void setup_agent_key(struct provision *p)
{
	if (has_valid_key(p)) {
		skip(p, "The repository has a valid key.");
		return;
	}
	take_repository(p);
	const char *former = text(p, "key_repo");
	if (former && strcasecmp(former, text(p, "repo")) != 0)
		setup_revoke_key(p->rq,
		                 text(p, "key_id")); /* the agent on the former repository ends */
	yyjson_val *key = make_key(p);
	service_ask(p->rq, INTERNAL_ID_secret_put,
	            ASK_BODY(p->rq, {"repo", text(p, "repo")}, {"name", KEY_SECRET},
	                     {"value", json_get_text(key, "key")}));
	set(p, "key_id", json_get_text(key, "id"));
	set(p, "key_repo", text(p, "repo"));
	set(p, "key_expires_at", json_get_text(key, "expires_at"));
	set_bool(p, "changed", true);
	p->message = key_message(p->rq, json_get_text(key, "expires_at"));
}

void setup_model_key(struct provision *p)
{
	const char *repo = text(p, "repo"), *provider = text(p, "provider");
	yyjson_val *put = service_ask(p->rq, INTERNAL_ID_secret_put,
	                              ASK_BODY(p->rq, {"repo", repo},
	                                       {"name", agent_model_secret(p->rq->arena, provider)},
	                                       {"model_provider", provider}));
	const char *outcome = json_get_text(put, "outcome"), *url = json_get_text(put, "base_url");
	bool is_missing = outcome && strcmp(outcome, "model_key_missing") == 0;
	if (url)
		service_ask(p->rq, INTERNAL_ID_secret_put,
		            ASK_BODY(p->rq, {"repo", repo}, {"name", MODEL_URL}, {"value", url}));
	set_bool(p, "model_key_missing", is_missing);
	set_bool(p, "changed", outcome && strcmp(outcome, "created") == 0);
	p->message = arena_printf(
		p->rq->arena,
		is_missing ? "The account has no key of %s: connect it and provision again."
			   : "The repository has the key of %s.",
		provider);
}

static const char *pull_request_text(const struct provision *p)
{
	return arena_printf(
		p->rq->arena,
		"Adds the workflow `%s`, in which %s works on the interest \"%s\".\n\n"
		"It runs when the schedule of the interest or a person starts it, takes "
		"the best recommendation of the day, tries it on a branch and opens a "
		"pull request. It has the secret "
		"`" KEY_SECRET "`, which is limited to this repository and interest, "
		"and can be revoked at any time.\n\n%s",
		agent_workflow_path(p->rq->arena), text(p, "agent"),
		outside_text(p->rq->arena, text(p, "interest_name")), proposal_guide(p->rq->arena));
}

static const char *workflow_of(const struct provision *p)
{
	const struct workflow_values values = {
		.interest = text(p, "interest_id"),
		.agent = text(p, "agent"),
		.provider = text(p, "provider"),
	};
	return workflow_file(p->rq->arena, &values);
}

static struct proposal proposal_of(const struct provision *p, const char *branch)
{
	return (struct proposal){
		.repo = text(p, "repo"),
		.branch = branch,
		.content = workflow_of(p),
		.title = "Add the workflow of the research agent",
		.body = pull_request_text(p),
	};
}

/* The default branch has the workflow of this version, since `at` unless it had one before. */
static void note_in_place(struct provision *p, const char *version, const char *at)
{
	set(p, "workflow_version", version);
	set(p, "proposed_version", NULL);
	if (!text(p, "merged_at"))
		set(p, "merged_at", at);
}

/* Whether an agent is at work with another workflow, with which it goes on until the one that is
 * proposed is merged. An agent whose workflow was removed waits for it. */
static bool goes_on(const struct provision *p, const char *workflow_there)
{
	return text(p, "merged_at") && workflow_there;
}

void setup_workflow(struct provision *p)
{
	const char *content = workflow_of(p), *version = workflow_version(p->rq->arena);
	const char *there = proposal_workflow_there(p->rq, text(p, "repo"));
	if (there && strcmp(there, content) == 0) {
		set(p, "work_branch", NULL);
		note_in_place(p, version, "now");
		skip(p, "The workflow is on the default branch.");
		return;
	}
	const char *branch = proposal_branch(p->rq, p->row, text(p, "task_id"));
	struct proposal proposal = proposal_of(p, branch);
	yyjson_val *put = proposal_commit(p->rq, &proposal);
	bool is_changed = json_get_bool(put, "changed", false);
	set(p, "committed_version", version);
	set(p, "work_branch", branch);
	set(p, "commit_sha", json_get_text(put, "commit_sha"));
	if (!goes_on(p, there))
		set(p, "workflow_version", version);
	if (text(p, "merged_at") && !there)
		set(p, "merged_at", NULL);
	set_bool(p, "changed", is_changed);
	p->message = arena_printf(p->rq->arena,
	                          is_changed ? "The workflow is on the branch %s."
	                                     : "The workflow is up to date on the branch %s.",
	                          branch);
}

void setup_pull_request(struct provision *p)
{
	const char *branch = text(p, "work_branch"), *version = text(p, "committed_version");
	if (!branch) {
		skip(p, "There is nothing to propose.");
		return;
	}
	struct proposal proposal = proposal_of(p, branch);
	yyjson_val *answer = proposal_open(p->rq, &proposal, p->row, text(p, "task_id"));
	yyjson_val *pull = json_get(answer, "pull_request");
	const char *url = json_get_text(pull, "html_url");
	const char *merged_at = json_get_text(pull, "merged_at");
	yyjson_mut_obj_add_int(p->doc, p->output, "pr_number", json_get_int(pull, "number", 0));
	set(p, "pr_url", url);
	set(p, "closed_at", NULL);
	if (strcmp(proposal.branch, branch) != 0) {
		set(p, "work_branch", proposal.branch);
		set(p, "commit_sha", json_get_text(pull, "head_sha"));
	}
	if (merged_at && proposal_is_in_place(p->rq, proposal.repo, proposal.content))
		note_in_place(p, version, merged_at);
	else
		set(p, "proposed_version", text(p, "merged_at") ? version : NULL);
	set_bool(p, "changed", json_get_bool(answer, "created", false));
	p->message = arena_printf(p->rq->arena, "The workflow is in %s.", url);
}

/* The pull request, by its number and the commit that may be merged. */
static const char *merge_body(const struct provision *p)
{
	yyjson_mut_doc *doc = json_doc_new(p->rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", text(p, "repo"));
	yyjson_mut_obj_add_int(doc, body, "number", json_get_int(p->row, "pr_number", 0));
	json_add_text(doc, body, "sha", text(p, "commit_sha"));
	return json_write_mut(p->rq->arena, body, NULL);
}

/* People merge it, maybe before it was stored: the event of that has found no row. */
static void note_merge(struct provision *p)
{
	bool is_merged = proposal_is_in_place(p->rq, text(p, "repo"), workflow_of(p));
	if (is_merged)
		note_in_place(p, workflow_version(p->rq->arena), "now");
	skip(p, is_merged ? "The pull request is merged." : "The pull request waits to be merged.");
}

bool setup_is_merged(yyjson_val *row)
{
	return json_get_text(row, "merged_at") && !json_get_text(row, "proposed_version");
}

/* What the code host refuses, such as a merge without a review, is left to people. */
void setup_merge(struct provision *p)
{
	if (setup_is_merged(p->row)) {
		skip(p, "The pull request is merged.");
		return;
	}
	if (!json_get_bool(p->row, "auto_merge", false)) {
		note_merge(p);
		return;
	}
	struct service_answer answer =
		service_ask_try(p->rq, INTERNAL_ID_pull_request_merge, merge_body(p), NULL);
	if (answer.code == ERR_CONFLICT) {
		p->message = arena_printf(p->rq->arena, "The pull request waits to be merged: %s",
		                          answer.detail);
		return;
	}
	if (answer.code)
		service_answer_raise(p->rq, &answer);
	note_in_place(p, text(p, "committed_version"),
	              json_get_text(json_get(answer.json, "pull_request"), "merged_at"));
	set_bool(p, "changed", true);
	p->message = "The pull request is merged.";
}

void setup_installation(struct provision *p)
{
	struct request *rq = p->rq;
	const char *key = text(p, "key_id");
	yyjson_val *found =
		service_ask(rq, INTERNAL_ID_provisioned_key_get, ASK_BODY(rq, {"key_id", key}));
	if (strcmp(json_get_text(found, "status"), "active") != 0)
		raise_error(rq, ERR_CONFLICT,
		            "the key of the agent was revoked meanwhile; provision again");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", text(p, "repo"));
	yyjson_mut_obj_add_str(doc, body, "agent", text(p, "agent"));
	yyjson_mut_obj_add_str(doc, body, "provider", text(p, "provider"));
	yyjson_mut_obj_add_str(doc, body, "interest_id", text(p, "interest_id"));
	yyjson_mut_obj_add_str(doc, body, "key_id", key);
	json_add_text(doc, body, "setup_url", text(p, "merged_at") ? NULL : text(p, "pr_url"));
	yyjson_mut_obj_add_bool(doc, body, "model_key_missing",
	                        json_get_bool(p->row, "model_key_missing", false));
	yyjson_val *made = service_ask(rq, INTERNAL_ID_installation_record,
	                               json_write_mut(rq->arena, body, NULL));
	const char *id = json_get_text(made, "id"), *former = text(p, "installation_id");
	set(p, "installation_id", id);
	set_bool(p, "changed", !former || strcmp(former, id) != 0);
	p->message = "The agent is installed.";
}

const char *setup_dispatch(struct request *rq, yyjson_val *row, const char *occasion)
{
	const char *installation = json_get_text(row, "installation_id");
	const struct agent_start start = {
		.key = arena_printf(rq->arena, "%s %s", occasion, installation),
		.repo = json_get_text(row, "repo"),
		.interest = json_get_text(row, "interest_id"),
		.agent = json_get_text(row, "agent"),
		.provider = json_get_text(row, "provider"),
	};
	yyjson_val *refusal = agent_start_reserve(rq, &start);
	if (refusal)
		return json_get_text(refusal, "detail");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc), *inputs = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, inputs, "agent", start.agent);
	yyjson_mut_obj_add_str(doc, inputs, "provider", start.provider);
	yyjson_mut_obj_add_str(doc, inputs, "interest_id", start.interest);
	yyjson_mut_obj_add_str(doc, body, "repo", start.repo);
	yyjson_mut_obj_add_str(doc, body, "workflow", agent_workflow);
	yyjson_mut_obj_add_str(doc, body, "key", start.key);
	yyjson_mut_obj_add_val(doc, body, "inputs", inputs);
	agent_start_dispatch(rq, start.key, json_write_mut(rq->arena, body, NULL));
	return NULL;
}

/* Why the first run does not start now; NULL: it does. */
static const char *first_run_obstacle(const struct provision *p)
{
	if (text(p, "dispatched_at"))
		return "The first run was started before.";
	if (json_get_bool(p->row, "model_key_missing", false))
		return "The first run waits for the key of the model provider.";
	if (!text(p, "merged_at"))
		return "The first run starts when the pull request is merged.";
	if (json_get_bool(p->row, "is_paused", false))
		return "The first run starts when the agent is resumed.";
	if (!json_get_bool(p->row, "pool_is_ready", false))
		return "The first run starts when the papers of the interest are found.";
	return NULL;
}

void setup_first_run(struct provision *p)
{
	const char *obstacle = first_run_obstacle(p);
	if (obstacle) {
		skip(p, obstacle);
		return;
	}
	const char *refusal = setup_dispatch(p->rq, p->row, FIRST_RUN);
	if (refusal) {
		skip(p, refusal);
		return;
	}
	set(p, "dispatched_at", "now");
	set_bool(p, "changed", true);
	p->message = "The first run was started.";
}
