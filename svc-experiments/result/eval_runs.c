#include "result/eval_runs.h"

#include "analysis/members.h"
#include "client/service_ask.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Numbers of all rows together. */
#define VALUES_MAX 1000000

/* A run as it is named. */
struct named_run {
	const char *arm, *field; /* `eval_runs.control[0]` */
	const char *id;
	const char *seed;   /* as JSON; NULL: none, or not known yet */
	yyjson_val *answer; /* what svc-evalenv says of it, until its page ends */
	bool has_failed, has_succeeded;
	bool is_gone; /* deleted for its age */
};

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
	bool is_linked;         /* nobody has named the runs */
	bool may_leave_out;     /* runs whose rows are too many, in place of a fault */
	bool is_full;           /* a run was left out for that */
	struct named_run *runs; /* so far */
	size_t run_count;
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

/* The numbers that the plan asks for, of all examples. */
static size_t count_values(const struct making *m, yyjson_val *examples)
{
	size_t index, count, values = 0;
	yyjson_val *example;
	yyjson_arr_foreach (examples, index, count, example)
		for (size_t i = 0; i < m->plan->metric_count; i++)
			values += yyjson_is_num(
				json_get(json_get(example, "metrics"), m->plan->metrics[i].key));
	return values;
}

/* Whether there is room for them, all or none. */
static bool have_room(const struct making *m, yyjson_val *examples)
{
	return yyjson_mut_arr_size(m->rows) + yyjson_arr_size(examples) <= ROWS_MAX &&
	       m->values + count_values(m, examples) <= VALUES_MAX;
}

static void add_examples(struct making *m, const struct named_run *run, yyjson_val *examples)
{
	size_t index, count;
	yyjson_val *example;
	if (!have_room(m, examples)) {
		m->is_full = m->may_leave_out;
		if (!m->is_full)
			add_fault(m, run->field,
			          "is one too many: together the runs have too many examples");
		return;
	}
	yyjson_arr_foreach (examples, index, count, example) {
		if (!is_label(json_get(example, "id"))) {
			add_fault(m, run->field, "has an example without an id");
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

/* Note how a run has ended, and add its rows. */
static void take_run(struct making *m, struct named_run *run)
{
	static const char *const OPEN[] = {"queued", "running", NULL};
	const char *status = json_get_text(run->answer, "status");
	yyjson_val *seed = json_get(run->answer, "seed");
	if (is_label(seed))
		run->seed = json_write(m->arena, seed, NULL);
	run->has_succeeded = strcmp(status, "succeeded") == 0;
	if (run->has_succeeded)
		add_run(m, run);
	else if (is_one_of(status, OPEN))
		add_fault(m, run->field, "has not ended");
	else if (is_silent(run->answer))
		m->analysis->facts.left_out_runs++;
	else
		run->has_failed = true;
}

static void ask_run(struct making *m, struct named_run *run)
{
	struct request *rq = m->rq;
	request_page_begin(rq);
	run->answer =
		service_ask_found(rq, INTERNAL_ID_eval_results_get,
	                          ASK_BODY(rq, {"run_id", run->id}, {"repo", rq->caller.repo}));
	run->is_gone = !run->answer && m->is_linked;
	if (run->answer)
		take_run(m, run);
	else if (run->is_gone)
		m->analysis->facts.left_out_runs++;
	else
		add_fault(m, run->field, "is not one of your runs");
	request_page_end(rq);
}

/* Whether the run is named for the first time; twice it would count as two. */
static bool is_new(const struct making *m, const char *id)
{
	for (size_t i = 0; i < m->run_count; i++)
		if (strcasecmp(m->runs[i].id, id) == 0)
			return false;
	return true;
}

/* NULL: a fault was added. */
static const struct named_run *add_named(struct making *m, const char *arm, size_t number,
                                         yyjson_val *id)
{
	const char *field = arena_printf(m->arena, "eval_runs.%s[%zu]", arm, number);
	if (!yyjson_is_str(id) || !item_is_uuid(id)) {
		add_fault(m, field, "must be the id of a run");
	} else if (!is_new(m, yyjson_get_str(id))) {
		add_fault(m, field, "is named twice");
	} else {
		struct named_run *run = &m->runs[m->run_count++];
		*run = (struct named_run){.arm = arm, .field = field, .id = yyjson_get_str(id)};
		ask_run(m, run);
		return run;
	}
	return NULL;
}

static bool is_success_of(const struct named_run *run, const char *arm, const char *seed)
{
	return run->has_succeeded && run->seed && strcmp(run->seed, seed) == 0 &&
	       strcmp(run->arm, arm) == 0;
}

/* Whether a seed is that of one run only which succeeded, in each arm that has any. Where several
 * have, as with one seed for all, a run of the seed is no repetition of another. */
static bool is_seed_of_one(const struct making *m, const char *seed)
{
	for (size_t arm = 0; arm < m->plan->arm_count; arm++) {
		size_t successes = 0;
		for (size_t i = 0; i < m->run_count; i++)
			successes += is_success_of(&m->runs[i], m->plan->arms[arm].key, seed);
		if (successes > 1)
			return false;
	}
	return true;
}

/* Whether a run of the arm that was made later gives the result of the seed. */
static bool is_run_again(const struct making *m, const struct named_run *failed)
{
	for (size_t i = 0; failed->seed && i < m->run_count; i++)
		if (is_success_of(&m->runs[i], failed->arm, failed->seed) &&
		    strcasecmp(m->runs[i].id, failed->id) > 0)
			return is_seed_of_one(m, failed->seed);
	return false;
}

static void count_failed(struct making *m)
{
	struct result_facts *facts = &m->analysis->facts;
	for (size_t i = 0; i < m->run_count; i++) {
		if (!m->runs[i].has_failed)
			continue;
		bool is_again = is_run_again(m, &m->runs[i]);
		facts->repeated_runs += is_again;
		facts->left_out_runs += is_again;
		facts->missing_runs += !is_again;
	}
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
	int64_t most = json_get_int(m->analysis->experiment, "eval_runs_max", 0);
	if (all == 0 || all > (size_t)most)
		problem_add_field(m->arena, &m->analysis->problem, "eval_runs",
		                  "must name 1 to %" PRId64 " runs, as a list for each arm", most);
	m->runs = arena_array(m->arena, all, sizeof(*m->runs));
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

static struct making making_of(struct request *rq, struct result_analysis *analysis)
{
	struct plan *plan = arena_alloc(rq->arena, sizeof(*plan));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	plan_read(rq->arena, analysis->experiment, &analysis->problem, plan);
	return (struct making){
		.rq = rq,
		.arena = rq->arena,
		.analysis = analysis,
		.plan = plan,
		.doc = doc,
		.rows = yyjson_mut_arr(doc),
	};
}

static void finish(struct making *m)
{
	count_failed(m);
	settle_mixed(m);
	if (!m->analysis->problem.field_count)
		fiber_offload(m->rq, LANE_SHORT, freeze, m);
}

void eval_rows_fetch(struct request *rq, yyjson_val *eval_runs, struct result_analysis *analysis)
{
	struct making m = making_of(rq, analysis);
	size_t index, count, number, runs_count;
	yyjson_val *arm, *runs, *id;
	if (analysis->problem.field_count || !check_named(&m, eval_runs))
		return;
	json_obj_foreach (eval_runs, index, count, arm, runs)
		yyjson_arr_foreach (runs, number, runs_count, id)
			add_named(&m, yyjson_get_str(arm), number, id);
	finish(&m);
}

/* Add a run, and its id to those of its arm that were `taken`, unless it does not exist any more.
 * Whether there was room for it. */
static bool take_older(struct making *m, const char *arm, yyjson_val *runs, size_t place,
                       yyjson_mut_val *taken)
{
	yyjson_val *id = yyjson_arr_get(runs, place);
	const struct named_run *run = add_named(m, arm, place, id);
	if (m->is_full)
		return false;
	if (run && run->is_gone)
		return true;
	yyjson_mut_val *ids = yyjson_mut_obj_get(taken, arm);
	if (!ids)
		ids = yyjson_mut_obj_add_arr(m->doc, taken, arm);
	return yyjson_mut_arr_prepend(ids, yyjson_val_mut_copy(m->doc, id));
}

/* The newest run of each arm, then the one before it of each, and so on, until one is left out. All
 * that are older than that one are, too, failed ones as well: by their age, not by what they say.
 * Returns how many were taken. */
static size_t take_newest(struct making *m, yyjson_val *eval_runs, yyjson_mut_val *taken)
{
	size_t index, count, longest = 1, taken_count = 0;
	yyjson_val *arm, *runs;
	for (size_t back = 1; back <= longest && !m->is_full; back++) {
		m->may_leave_out = back > 1;
		json_obj_foreach (eval_runs, index, count, arm, runs) {
			size_t length = yyjson_arr_size(runs);
			longest = MAX_OF(longest, length);
			if (back <= length && !m->is_full)
				taken_count += take_older(m, yyjson_get_str(arm), runs,
				                          length - back, taken);
		}
	}
	return taken_count;
}

const char *eval_rows_fetch_newest(struct request *rq, yyjson_val *eval_runs, size_t run_count,
                                   struct result_analysis *analysis)
{
	struct making m = making_of(rq, analysis);
	yyjson_mut_val *taken = yyjson_mut_obj(m.doc);
	m.is_linked = true;
	if (analysis->problem.field_count || !check_named(&m, eval_runs))
		return json_write(rq->arena, eval_runs, NULL);
	size_t older = run_count - take_newest(&m, eval_runs, taken);
	analysis->facts.older_runs = (double)older;
	analysis->facts.left_out_runs += (double)older;
	finish(&m);
	return json_write_mut(rq->arena, taken, NULL);
}
