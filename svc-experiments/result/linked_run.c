#include "result/linked_run.h"

#include "analysis/output.h"
#include "json/json.h"
#include "linked_run.sql.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "result/eval_runs.h"
#include "result/result_analysis.h"

#include <string.h>

void linked_run_measured(struct request *rq, const struct event *event)
{
	pg_query(rq, LINKED_RUN_MEASURED_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)), pg_text(rq->id));
}

void linked_run_removed(struct request *rq, const struct event *event)
{
	pg_query(rq, LINKED_RUN_REMOVED_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)), pg_text(rq->id));
}

/* {"runs": {"control": ["0190…"]}, "count": 1, "left_out": 2} */
static const char *take_eval_runs(struct request *rq, yyjson_val *linked, struct result_analysis *c)
{
	yyjson_val *runs = json_get(linked, "runs");
	if (!yyjson_is_obj(runs))
		return NULL;
	size_t count = (size_t)json_get_int(linked, "count", 0);
	return arena_printf(rq->arena, "{\"eval_runs\": %s}",
	                    eval_rows_fetch_newest(rq, runs, count, c));
}

/* {"rows": [{"arm", "metrics"}], "is_cost_estimated": false, "left_out": 0} */
static const char *take_telemetry(struct request *rq, yyjson_val *linked, struct result_analysis *c)
{
	size_t length, count;
	const char *json = json_write(rq->arena, linked, &length);
	c->rows = json_get(linked, "rows");
	c->facts.has_estimated_cost = json_get_bool(linked, "is_cost_estimated", false);
	sha256(json, length, c->digest);
	count = yyjson_arr_size(c->rows);
	return count ? result_analysis_digest_json(rq, c, "runs", count) : NULL;
}

/* What is stored as input: of evaluation runs which they were, by arm. NULL: there are no runs. */
static const struct {
	const char *source;
	const char *(*take)(struct request *rq, yyjson_val *linked, struct result_analysis *c);
} SOURCES[] = {{"eval_runs", take_eval_runs}, {"telemetry", take_telemetry}};

/* Analyse the runs. Returns what is stored as input; NULL: there is nothing to store. */
static const char *analyse(struct request *rq, struct result_analysis *c, struct pg_rows *linked)
{
	yyjson_val *runs = json_parse_own(rq->arena, pg_json(linked));
	const char *input = NULL;
	for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++)
		if (strcmp(SOURCES[i].source, c->source) == 0)
			input = SOURCES[i].take(rq, runs, c);
	c->facts.left_out_runs += json_get_float(runs, "left_out", 0);
	c->facts.kept_runs = (double)pg_get_int(linked, 0, "kept_runs");
	if (input)
		result_analysis_run(rq, c);
	if (c->problem.field_count)
		result_analysis_refuse(rq, c);
	return c->output ? input : NULL;
}

static void store(struct request *rq, const struct result_analysis *c, struct pg_rows *linked,
                  const char *experiment, const char *input)
{
	pg_query(rq, LINKED_RESULT_STORE_SQL, pg_uuid(rq->caller.account), pg_text(experiment),
	         pg_text(c->config), pg_text(c->source), pg_text(pg_get(linked, 0, "md5")),
	         pg_text(pg_get(linked, 0, "analysis_id")), pg_text(input), pg_text(c->output),
	         pg_text(rq->id));
}

void results_collect(struct request *rq, struct task *task)
{
	const char *experiment = json_get_text(task->input, "experiment_id"), *input = NULL;
	struct result_analysis c = {
		.source = json_get_text(task->input, "source"),
		.facts = {.is_repeated = true},
	};
	struct pg_rows *linked = pg_query(rq, LINKED_RUNS_GET_SQL, pg_uuid(rq->caller.account),
	                                  pg_text(experiment), pg_text(c.source));
	if (!pg_empty(linked) && result_analysis_load(rq, &c, experiment))
		input = analyse(rq, &c, linked);
	pg_begin(rq);
	if (input)
		store(rq, &c, linked, experiment, input);
	else
		pg_query(rq, LINKED_RESULTS_WITHDRAW_SQL, pg_uuid(rq->caller.account),
		         pg_text(experiment), pg_text(c.source), pg_text(rq->id));
	task_complete(rq, task, "{}", NULL);
	pg_commit(rq);
}
