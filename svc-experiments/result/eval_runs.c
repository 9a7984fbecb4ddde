#include "result/eval_runs.h"

#include "analysis/members.h"
#include "client/service_ask.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"

#include <string.h>
#include <strings.h>

/* Numbers of all rows together. */
#define VALUES_MAX 1000000

/* The rows that are made, and what the runs so far have in common. */
struct making {
	struct request *rq;
	struct arena *arena; /* of the request: a run's answer is freed with its page */
	struct result_analysis *analysis;
	const struct plan *plan;
	yyjson_mut_doc *doc;
	yyjson_mut_val *rows;
	size_t values;
	size_t of_other_template; /* runs that are of another version than the first one */
	bool has_examples, has_runs;
	const char *ids[EVAL_RUNS_MAX]; /* of the runs so far */
	size_t id_count;
};

/* A run as it is named in the body. */
struct named_run {
	const char *arm, *field; /* `eval_runs.control[0]` */
	yyjson_val *answer;      /* what svc-evalenv says of it */
};

static void add_fault(struct making *m, const char *field, const char *message)
{
	problem_add_field(m->arena, &m->analysis->problem, field, "%s", message);
}

static bool is_label(yyjson_val *value)
{
	return yyjson_is_str(value) || yyjson_is_int(value);
}

static void add_label(struct making *m, yyjson_mut_val *row, const char *name, yyjson_val *value)
{
	if (is_label(value))
		yyjson_mut_obj_add_val(m->doc, row, name, yyjson_val_mut_copy(m->doc, value));
}

/* The numbers that the plan asks for. */
static void add_metrics(struct making *m, yyjson_mut_val *row, yyjson_val *from)
{
	yyjson_mut_val *metrics = yyjson_mut_obj_add_obj(m->doc, row, "metrics");
	for (size_t i = 0; i < m->plan->metric_count; i++) {
		const char *key = m->plan->metrics[i].key;
		yyjson_val *value = json_get(from, key);
		if (!yyjson_is_num(value))
			continue;
		yyjson_mut_obj_add_real(m->doc, metrics, key, yyjson_get_num(value));
		m->values++;
	}
}

static yyjson_mut_val *add_row(struct making *m, const struct named_run *run, yyjson_val *from)
{
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(m->doc, m->rows);
	json_add_text(m->doc, row, "arm", run->arm);
	add_metrics(m, row, json_get(from, "metrics"));
	return row;
}

static void add_examples(struct making *m, const struct named_run *run, yyjson_val *examples)
{
	size_t index, count;
	yyjson_val *example;
	yyjson_arr_foreach (examples, index, count, example) {
		if (!is_label(json_get(example, "id"))) {
			add_fault(m, run->field, "has an example without an id");
			return;
		}
		if (yyjson_mut_arr_size(m->rows) == ROWS_MAX || m->values > VALUES_MAX) {
			add_fault(m, run->field,
			          "is one too many: together the runs have too many examples");
			return;
		}
		yyjson_mut_val *row = add_row(m, run, example);
		add_label(m, row, "example", json_get(example, "id"));
		add_label(m, row, "group", json_get(example, "group"));
		add_label(m, row, "sample", json_get(example, "sample"));
	}
}

/* Whether the run is of the template of the runs before, which the first one sets. */
static bool is_same_template(struct making *m, const char *digest)
{
	struct result_facts *facts = &m->analysis->facts;
	if (!facts->template_digest)
		facts->template_digest = arena_strdup(m->arena, digest);
	return strcmp(digest, facts->template_digest) == 0;
}

static void add_other_template(struct making *m, const char *field)
{
	add_fault(m, field, "is of another version of a template than the others");
	m->of_other_template++;
}

/* Rows of a run that succeeded. */
static void add_run(struct making *m, const struct named_run *run)
{
	yyjson_val *examples = json_get(run->answer, "examples");
	bool has_examples = yyjson_is_arr(examples);
	const char *digest = json_get_text(run->answer, "template_digest");
	if (!digest)
		add_fault(m, run->field, "is of no template");
	else if (!is_same_template(m, digest))
		add_other_template(m, run->field);
	m->has_examples |= has_examples;
	m->has_runs |= !has_examples;
	if (m->has_examples && m->has_runs)
		add_fault(m, run->field,
		          "must have examples if others have, and none if they have not");
	else if (has_examples)
		add_examples(m, run, examples);
	else
		add_label(m, add_row(m, run, run->answer), "sample", json_get(run->answer, "seed"));
}

static bool is_one_of(const char *text, const char *const *values)
{
	for (; text && *values; values++)
		if (strcmp(text, *values) == 0)
			return true;
	return false;
}

/* Whether a run without a result would have none whatever its arm is worth. A svc-evalenv of the
 * previous release does not say whether it has begun. */
static bool is_silent(yyjson_val *answer)
{
	static const char *const SILENT[] = {"environment", "lost", NULL};
	const char *kind = json_get_text(answer, "error_kind");
	bool is_cancelled = kind && strcmp(kind, "cancelled") == 0;
	return is_one_of(kind, SILENT) ||
	       (is_cancelled && !json_get_bool(answer, "has_begun", true));
}

/* Count a run that ended without a result, or add its rows. */
static void take_run(struct making *m, const struct named_run *run)
{
	static const char *const OPEN[] = {"queued", "running", NULL};
	const char *status = json_get_text(run->answer, "status");
	struct result_facts *facts = &m->analysis->facts;
	if (strcmp(status, "succeeded") == 0)
		add_run(m, run);
	else if (is_one_of(status, OPEN))
		add_fault(m, run->field, "has not ended");
	else if (is_silent(run->answer))
		facts->left_out_runs++;
	else
		facts->missing_runs++;
}

static void ask_run(struct making *m, struct named_run *run, const char *id)
{
	struct request *rq = m->rq;
	request_page_begin(rq);
	struct service_answer answer =
		service_ask_try(rq, internal_op(INTERNAL_ID_eval_results_get),
	                        ASK_BODY(rq, {"run_id", id}, {"repo", rq->caller.repo}), true, 0);
	if (answer.code && answer.code != ERR_NOT_FOUND)
		service_answer_raise(rq, &answer);
	run->answer = answer.json;
	if (answer.code)
		add_fault(m, run->field, "is not one of your runs");
	else
		take_run(m, run);
	request_page_end(rq);
}

/* Whether the run is named for the first time; twice it would count as two. */
static bool is_new(struct making *m, const char *id)
{
	for (size_t i = 0; i < m->id_count; i++)
		if (strcasecmp(m->ids[i], id) == 0)
			return false;
	m->ids[m->id_count++] = id;
	return true;
}

static void add_named(struct making *m, const char *arm, size_t number, yyjson_val *id)
{
	struct named_run run = {
		.arm = arm,
		.field = arena_printf(m->arena, "eval_runs.%s[%zu]", arm, number),
	};
	if (!yyjson_is_str(id) || !item_is_uuid(id))
		add_fault(m, run.field, "must be the id of a run");
	else if (!is_new(m, yyjson_get_str(id)))
		add_fault(m, run.field, "is named twice");
	else
		ask_run(m, &run, yyjson_get_str(id));
}

/* Whether so many runs of these arms can be asked for. */
static bool check_named(struct making *m, yyjson_val *eval_runs)
{
	size_t index, count, all = 0;
	yyjson_val *arm, *runs;
	json_obj_foreach (eval_runs, index, count, arm, runs) {
		all += yyjson_arr_size(runs);
		const char *name = unsafe_yyjson_get_str(arm);
		const char *field = arena_printf(m->arena, "eval_runs.%s", name);
		if (plan_arm(m->plan, name) < 0)
			add_fault(m, field, "is no arm of the plan");
		else if (!yyjson_is_arr(runs))
			add_fault(m, field, "must be a list of ids of runs");
	}
	if (all == 0 || all > EVAL_RUNS_MAX)
		add_fault(m, "eval_runs", "must name 1 to 200 runs, as a list for each arm");
	return m->analysis->problem.field_count == 0;
}

/* Not on the loop: the rows may be as many as those of a large body. */
static void freeze(void *arg)
{
	struct making *m = arg;
	size_t length;
	char *json = json_write_mut(m->arena, m->rows, &length);
	sha256(json, length, m->analysis->digest);
	m->analysis->rows = json_parse_own(m->arena, json);
}

/* Where nothing else is wrong, a client is told by the code of the problem. */
static void settle_mixed(const struct making *m)
{
	struct problem *problem = &m->analysis->problem;
	if (m->of_other_template && m->of_other_template == problem->field_count)
		problem->code = ERR_MIXED_TEMPLATES;
}

void eval_rows_fetch(struct request *rq, yyjson_val *eval_runs, struct result_analysis *analysis)
{
	struct plan *plan = arena_alloc(rq->arena, sizeof(*plan));
	struct making m = {
		.rq = rq,
		.arena = rq->arena,
		.analysis = analysis,
		.plan = plan,
		.doc = json_doc_new(rq->arena),
	};
	size_t index, count, number, runs_count;
	yyjson_val *arm, *runs, *id;
	m.rows = yyjson_mut_arr(m.doc);
	plan_read(rq->arena, analysis->experiment, &analysis->problem, plan);
	if (analysis->problem.field_count || !check_named(&m, eval_runs))
		return;
	json_obj_foreach (eval_runs, index, count, arm, runs)
		yyjson_arr_foreach (runs, number, runs_count, id)
			add_named(&m, yyjson_get_str(arm), number, id);
	settle_mixed(&m);
	if (!analysis->problem.field_count)
		fiber_offload(rq, LANE_SHORT, freeze, &m);
}
