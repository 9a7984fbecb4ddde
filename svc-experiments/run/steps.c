#include "run/steps.h"

#include "json/json.h"
#include "pg/pg.h"
#include "run/run.h"
#include "steps.sql.h"

#include <string.h>

/* The steps, in their order. `doing` is the task's message while one runs. */
static const struct step {
	const char *name, *pipeline_status, *doing;
	step_fn *run;
} STEPS[] = {
	{"assemble_context", "assembling_context", "Writing the brief.", setup_context},
	{"create_branch", "dispatching", "Putting the brief on a branch.", setup_branch},
	{"dispatch", "dispatching", "Starting the agent's workflow.", setup_dispatch},
};

const char *run_step_names(struct arena *arena)
{
	struct buf names = {.arena = arena};
	buf_puts(&names, "[");
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++)
		buf_printf(&names, "\"%s\", ", STEPS[i].name);
	buf_puts(&names, "\"wait\"]");
	return names.data;
}

/* The row of the run, or NULL. */
static yyjson_val *load(struct request *rq, const char *task)
{
	struct pg_rows *rows = pg_query(rq, RUN_LOAD_SQL, pg_text(task));
	return pg_empty(rows) ? NULL : json_parse_own(rq->arena, pg_json(rows));
}

static bool is_done(yyjson_val *row, const struct step *step)
{
	return yyjson_equals_str(json_get(json_get(row, "steps"), step->name), "completed");
}

/* False: the run has ended. The experiment is locked before the task, as by those who delete it. */
static bool begin(struct request *rq, struct task *task, size_t index)
{
	pg_begin(rq);
	struct pg_rows *begun =
		pg_query(rq, RUN_STEP_BEGIN_SQL, pg_text(task->id), pg_text(STEPS[index].name),
	                 pg_text(STEPS[index].pipeline_status), pg_text(rq->id));
	bool is_begun = pg_value_bool(begun, 0);
	if (is_begun)
		task_progress(rq, task, (int)(100 * index / ARRAY_LEN(STEPS)), STEPS[index].doing);
	pg_commit(rq);
	return is_begun;
}

/* Store the result of a step, if this process has the task still. */
static void end(struct request *rq, struct task *task, size_t index, const struct run *run)
{
	pg_begin(rq);
	pg_query(rq, RUN_STEP_END_SQL, pg_text(task->id), pg_text(STEPS[index].name),
	         pg_text(run->message), pg_text(json_write_mut(rq->arena, run->output, NULL)),
	         pg_text(rq->id));
	task_progress(rq, task, (int)(100 * (index + 1) / ARRAY_LEN(STEPS)), run->message);
	pg_commit(rq);
}

static void take_step(struct request *rq, struct task *task, size_t index, yyjson_val *row)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct run run = {.rq = rq, .row = row, .doc = doc, .output = yyjson_mut_obj(doc)};
	if (!begin(rq, task, index))
		return;
	STEPS[index].run(&run);
	end(rq, task, index, &run);
}

static const char *result_json(struct request *rq, yyjson_val *row)
{
	static const char *const TOLD[] = {"repo", "work_branch", "run_id", "run_url"};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *result = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(TOLD); i++)
		json_add_member(doc, result, TOLD[i], row, TOLD[i]);
	return json_write_mut(rq->arena, result, NULL);
}

static void complete(struct request *rq, struct task *task)
{
	pg_begin(rq);
	pg_query(rq, RUN_WAIT_SQL, pg_text(task->id), pg_int(run_deadline_ms), pg_text(rq->id));
	yyjson_val *row = load(rq, task->id);
	task_complete(rq, task, row ? result_json(rq, row) : "{}",
	              row ? "The agent was started."
	                  : "The run had ended before the agent was started.");
	pg_commit(rq);
}

void run_job(struct request *rq, struct task *task)
{
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++) {
		yyjson_val *row = load(rq, task->id);
		if (row && !is_done(row, &STEPS[i]))
			take_step(rq, task, i, row);
	}
	complete(rq, task);
}
