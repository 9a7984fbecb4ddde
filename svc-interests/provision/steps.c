#include "provision/steps.h"

#include "json/json.h"
#include "pg/pg.h"
#include "provision/provision.h"
#include "provision/setup.h"
#include "steps.sql.h"

#include <string.h>

/* The steps, in their order; `doing` is what a poll shows while one runs. */
static const struct step {
	const char *name, *doing;
	step_fn *run;
} STEPS[] = {
	{"check_app", "Looking at the repository and the app's installation.", setup_repository},
	{"agent_key", "Giving the repository a key of the agent.", setup_agent_key},
	{"model_key", "Giving the repository the key of the model provider.", setup_model_key},
	{"workflow", "Writing the agent's workflow on a branch.", setup_workflow},
	{"pull_request", "Opening the pull request with the workflow.", setup_pull_request},
	{"merge", "Merging the pull request.", setup_merge},
	{"installation", "Recording the agent.", setup_installation},
	{"first_run", "Starting the first run.", setup_first_run},
};

const char *provision_step_names(struct arena *arena)
{
	struct buf names = {.arena = arena};
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++)
		buf_printf(&names, "%s\"%s\"", i ? ", " : "[", STEPS[i].name);
	buf_puts(&names, "]");
	return names.data;
}

/* The row of the interest, or NULL. */
static yyjson_val *load(struct request *rq, const char *interest, const char *task)
{
	struct pg_rows *rows = pg_query(rq, STEP_LOAD_SQL, pg_text(interest), pg_text(task));
	return pg_empty(rows) ? NULL : json_parse_own(rq->arena, pg_json(rows));
}

static bool is_done(yyjson_val *row, const struct step *step)
{
	const char *status = json_get_text(json_get(row, "steps"), step->name);
	return status && (strcmp(status, "completed") == 0 || strcmp(status, "skipped") == 0);
}

static void begin(struct request *rq, struct task *task, size_t index)
{
	pg_begin(rq);
	pg_query(rq, STEP_BEGIN_SQL, pg_text(task->id), pg_text(STEPS[index].name));
	task_progress(rq, task, (int)(100 * index / ARRAY_LEN(STEPS)), STEPS[index].doing);
	pg_commit(rq);
}

/* Store the result of a step, if this process has the task still. */
static void end(struct request *rq, struct task *task, size_t index, const struct provision *p)
{
	pg_begin(rq);
	pg_query(rq, STEP_END_SQL, pg_text(task->id), pg_text(STEPS[index].name),
	         pg_text(p->is_skipped ? "skipped" : "completed"), pg_text(p->message),
	         pg_text(json_write_mut(rq->arena, p->output, NULL)));
	task_progress(rq, task, (int)(100 * (index + 1) / ARRAY_LEN(STEPS)), p->message);
	pg_commit(rq);
}

static void run(struct request *rq, struct task *task, size_t index, yyjson_val *row)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct provision p = {.rq = rq, .row = row, .doc = doc, .output = yyjson_mut_obj(doc)};
	begin(rq, task, index);
	STEPS[index].run(&p);
	end(rq, task, index, &p);
}

static bool has(yyjson_val *row, const char *name)
{
	return json_get_text(row, name);
}

/* Whether this task has started a run; the step is skipped when an earlier one has. */
static bool has_dispatched(yyjson_val *row)
{
	return yyjson_equals_str(json_get(json_get(row, "steps"), "first_run"), "completed");
}

static const char *result_json(struct request *rq, yyjson_val *row, const char *changes)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *result = yyjson_mut_obj(doc);
	json_add_member(doc, result, "repo", row, "repo");
	json_add_member(doc, result, "pr_url", row, "pr_url");
	yyjson_mut_obj_add_bool(doc, result, "merged", setup_is_merged(row));
	yyjson_mut_obj_add_bool(doc, result, "secret_set", has(row, "key_id"));
	json_add_member(doc, result, "model_key_missing", row, "model_key_missing");
	json_add_member(doc, result, "key_id", row, "key_id");
	json_add_member(doc, result, "installation_id", row, "installation_id");
	yyjson_mut_obj_add_bool(doc, result, "dispatched", has_dispatched(row));
	yyjson_mut_obj_add_val(doc, result, "changed", yyjson_mut_raw(doc, changes));
	return json_write_mut(rq->arena, result, NULL);
}

/* What is left to do, in a sentence. */
static const char *summary(struct request *rq, yyjson_val *row, bool is_changed)
{
	const char *repo = json_get_text(row, "repo");
	if (json_get_bool(row, "model_key_missing", false))
		return arena_printf(
			rq->arena,
			"The agent is on %s and has no model key: connect %s and provision again.",
			repo, json_get_text(row, "provider"));
	if (!has(row, "merged_at"))
		return arena_printf(rq->arena, "The agent works on %s once %s is merged.", repo,
		                    json_get_text(row, "pr_url"));
	if (!setup_is_merged(row))
		return arena_printf(
			rq->arena,
			"The agent works on %s, with the workflow that is there until %s is "
			"merged.",
			repo, json_get_text(row, "pr_url"));
	return arena_printf(rq->arena,
	                    is_changed ? "The agent works on %s."
	                               : "The agent works on %s; nothing had to be changed.",
	                    repo);
}

static void complete(struct request *rq, struct task *task, const char *interest)
{
	pg_begin(rq);
	pg_query(rq, STEP_LOCK_SQL, pg_text(interest));
	yyjson_val *row = load(rq, interest, task->id);
	const char *changes = pg_json(pg_query(rq, STEP_CHANGES_SQL, pg_text(task->id)));
	task_complete(rq, task, row ? result_json(rq, row, changes) : "{}",
	              row ? summary(rq, row, strcmp(changes, "[]") != 0)
	                  : "The interest was deleted.");
	pg_query(rq, FIRST_RUN_QUEUE_SQL, pg_text(interest));
	pg_commit(rq);
}

void provision_run(struct request *rq, struct task *task)
{
	const char *interest = json_get_text(task->input, "interest_id");
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++) {
		yyjson_val *row = load(rq, interest, task->id);
		if (row && !is_done(row, &STEPS[i]))
			run(rq, task, i, row);
	}
	if (!load(rq, interest, NULL)) /* deleted, maybe before the key was stored with it */
		setup_revoke_key_of(rq, interest);
	complete(rq, task, interest);
}

void first_run_run(struct request *rq, struct task *task)
{
	const char *interest = json_get_text(task->input, "interest_id");
	yyjson_val *row = load(rq, interest, NULL);
	bool is_due = row && !json_get_bool(row, "is_paused", false) &&
	              !has(row, "dispatched_at") && has(row, "installation_id") &&
	              !has(row, "revoked_at");
	const char *refusal = is_due ? setup_dispatch(rq, row, FIRST_RUN) : NULL;
	bool is_started = is_due && !refusal;
	pg_begin(rq);
	if (is_started)
		pg_query(rq, FIRST_RUN_END_SQL, pg_text(interest),
		         pg_text(json_get_text(row, "installation_id")));
	task_complete(rq, task, "{}",
	              refusal      ? refusal
	              : is_started ? "The first run was started."
	                           : "There is no first run to start.");
	pg_commit(rq);
}

void key_revoke_run(struct request *rq, struct task *task)
{
	setup_revoke_key(rq, json_get_text(task->input, "key_id"));
	task_complete(rq, task, "{}", "The key is revoked.");
}
