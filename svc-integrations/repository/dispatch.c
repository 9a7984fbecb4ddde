#include "repository/dispatch.h"

#include "dispatch.sql.h"
#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "repository/branch.h"
#include "repository/replica_lock.h"
#include "repository/run.h"

#include <inttypes.h>
#include <string.h>

#define KEY_MAX       200
#define REF_MAX       255
#define INPUTS_MAX    25
#define LOOK_TIMES    5 /* for the run of a dispatch whose answer did not name it */
#define LOOK_PAUSE_MS 1000
#define LOOK_RUNS_MAX 30
#define VALID_S       2592000 /* 30 days (dispatch_note) */
#define SETTLES_S     120     /* a run is shown so long after its dispatch at the latest */
#define RETRY_AFTER_S 30      /* while the run of a dispatch whose answer was lost may come to be */

static const struct permission DISPATCH_PERMISSIONS[] = {{"actions", "write"}, {0}};

struct dispatch_input {
	const char *repo, *workflow, *ref, *inputs, *key;
	int64_t valid_s;
	bool is_only_known;
};

static const struct field DISPATCH_FIELDS[] = {
	BODY_TEXT(struct dispatch_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	{IN_BODY, FIELD_TEXT, "workflow", FIELD_AT(struct dispatch_input, workflow, const char *),
         REQUIRED, 1, WORKFLOW_NAME_MAX, .check = workflow_name_check},
	BODY_TEXT(struct dispatch_input, ref, "ref", NULLABLE, 1, REF_MAX),
	BODY_OBJECT(struct dispatch_input, inputs, "inputs", NULLABLE),
	BODY_TEXT(struct dispatch_input, key, "key", REQUIRED, 1, KEY_MAX),
	BODY_INT(struct dispatch_input, valid_s, "valid_s", NULLABLE, 1, VALID_S, VALID_S),
	BODY_BOOL(struct dispatch_input, is_only_known, "only_known", NULLABLE, false),
	FIELD_END,
};

/* The run that a dispatch has started; 0 and NULL: not known. */
struct started_run {
	int64_t id;
	const char *html_url;
};

/* A dispatch under way. It is worked on in a fiber of its own, whose arena ends with it. */
struct dispatch {
	const struct dispatch_input *in;
	yyjson_val *inputs; /* NULL: none */
	struct repository repository;
	const char *ref;
	int64_t after_run_id;
	bool is_repeated;
	bool is_recent;  /* noted so lately that its run may not have come to be */
	bool is_perhaps; /* it, or an earlier one of the key, may have started a run */
	struct started_run run;
	const char *dispatched_at;
	struct arena *arena; /* of the request */
};

static void check_inputs(struct request *rq)
{
	yyjson_val *inputs = json_get(rq->http->json, "inputs");
	if (yyjson_obj_size(inputs) > INPUTS_MAX)
		raise_field(rq, "inputs", "must have at most %d members", INPUTS_MAX);
	size_t index, max;
	yyjson_val *name, *value;
	json_obj_foreach (inputs, index, max, name, value)
		if (!yyjson_is_str(value))
			problem_add_field(rq->arena, &rq->problem,
			                  arena_printf(rq->arena, "inputs.%s",
			                               yyjson_get_str(name)),
			                  "must be a string");
	raise_if_faults(rq);
}

static attr_noreturn void refuse(struct request *rq, const struct dispatch *d,
                                 const struct code_host_answer *answer)
{
	repository_refuse(rq, answer,
	                  arena_printf(rq->arena,
	                               "no such workflow: %s has no .github/workflows/%s on its "
	                               "default branch",
	                               d->repository.full_name, d->in->workflow));
}

/* The newest runs of the workflow that a dispatch has started. */
static yyjson_val *ask_runs(struct request *rq, const struct dispatch *d, int count)
{
	struct code_host_answer answer =
		repository_call(rq, &d->repository, "GET", NULL,
	                        "/actions/workflows/%s/runs?event=workflow_dispatch&per_page=%d",
	                        query_encode(rq->arena, d->in->workflow), count);
	if (answer.status != 200)
		refuse(rq, d, &answer);
	return json_get(answer.json, "workflow_runs");
}

/* Look for the run of a dispatch whose answer did not name it: the oldest one after the newest that
 * there was, of no other key. */
static bool find_run(struct request *rq, struct dispatch *d)
{
	yyjson_val *runs = ask_runs(rq, d, LOOK_RUNS_MAX), *run;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	size_t index, max;
	yyjson_arr_foreach (runs, index, max, run)
		if (json_get_int(run, "id", 0) > d->after_run_id)
			yyjson_mut_arr_add_sint(doc, ids, json_get_int(run, "id", 0));
	struct pg_rows *rows =
		pg_query(rq, DISPATCH_UNKNOWN_RUN_SQL, pg_text(d->repository.full_name),
	                 pg_text(json_write_mut(rq->arena, ids, NULL)));
	if (pg_empty(rows))
		return false;
	d->run.id = pg_value_int(rows, 0);
	yyjson_arr_foreach (runs, index, max, run)
		if (json_get_int(run, "id", 0) == d->run.id)
			d->run.html_url = arena_strdup(d->arena, json_get_text(run, "html_url"));
	return true;
}

static void look_for_run(struct request *rq)
{
	struct dispatch *d = rq->user;
	for (int i = 0; i < LOOK_TIMES && !find_run(rq, d); i++)
		fiber_sleep(rq, LOOK_PAUSE_MS);
}

/* A code host that answers 204 does not name the run, which comes to be a moment later. It was
 * started, whatever becomes of looking for it. */
static void wait_for_run(struct request *rq, struct dispatch *d)
{
	struct problem problem;
	fiber_spawn(rq, look_for_run, d);
	enum err_code code = fiber_join_try(rq, &problem);
	if (code)
		log_warn("the run of a dispatch was not found",
		         f_text("repo", d->repository.full_name),
		         f_text("error", err_info(code)->slug));
}

/* Look for the run of a dispatch whose answer was lost. Whether there is one decides whether it is
 * sent again, so a look that fails is no "no", nor is one that comes before the run can be seen. */
static void look_again(struct request *rq, struct dispatch *d)
{
	fiber_spawn(rq, look_for_run, d);
	fiber_join(rq);
	if (d->run.id || !d->is_recent)
		return;
	raise_retry_later(rq, ERR_UNCERTAIN, RETRY_AFTER_S,
	                  "the code host does not show the run yet");
}

static yyjson_mut_val *dispatch_body(struct request *rq, const struct dispatch *d)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "ref", d->ref);
	yyjson_mut_obj_add_bool(doc, body, "return_run_details", true);
	if (yyjson_obj_size(d->inputs) > 0)
		yyjson_mut_obj_add_val(doc, body, "inputs", yyjson_val_mut_copy(doc, d->inputs));
	return body;
}

static void forget(struct request *rq, struct dispatch *d)
{
	pg_query(rq, DISPATCH_FORGET_SQL, pg_uuid(rq->caller.account), pg_text(d->in->key));
	d->is_perhaps = false;
}

static void post_dispatch(struct request *rq)
{
	struct dispatch *d = rq->user;
	struct code_host_answer answer =
		repository_call(rq, &d->repository, "POST", dispatch_body(rq, d),
	                        "/actions/workflows/%s/dispatches",
	                        query_encode(rq->arena, d->in->workflow));
	if (answer.status != 200 && answer.status != 204) {
		forget(rq, d);
		refuse(rq, d, &answer);
	}
	d->run.id = json_get_int(answer.json, "workflow_run_id", 0);
	d->run.html_url = arena_strdup(d->arena, json_get_text(answer.json, "html_url"));
}

/* Send it. One that was not sent, or was refused, such as for a rate limit, leaves no note: a run
 * that somebody starts meanwhile would be taken for its own. */
static void send_dispatch(struct request *rq, struct dispatch *d)
{
	struct problem problem;
	fiber_spawn(rq, post_dispatch, d);
	enum err_code code = fiber_join_try(rq, &problem);
	if (err_is_undone(code) && d->is_perhaps)
		forget(rq, d);
	if (code)
		raise_problem(rq, &problem);
	if (!d->run.id)
		wait_for_run(rq, d);
}

/* Take over what is known of an earlier dispatch of the key; false: there was none. */
static bool is_known(struct request *rq, struct dispatch *d, bool *ret_is_answered)
{
	struct pg_rows *rows = pg_query(rq, DISPATCH_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(d->in->key), pg_text(d->repository.full_name),
	                                pg_text(d->in->workflow), pg_int(SETTLES_S));
	if (pg_empty(rows))
		return false;
	if (!pg_get_bool(rows, 0, "is_same"))
		raise_error(rq, ERR_CONFLICT,
		            "the key was used for another repository or workflow");
	d->is_repeated = true;
	d->is_recent = pg_get_bool(rows, 0, "is_recent");
	d->after_run_id = pg_get_int(rows, 0, "after_run_id");
	d->run.id = pg_get_int(rows, 0, "run_id");
	d->run.html_url = arena_strdup(d->arena, pg_get(rows, 0, "html_url"));
	d->dispatched_at = arena_strdup(d->arena, pg_get(rows, 0, "dispatched_at"));
	*ret_is_answered = pg_get_bool(rows, 0, "is_answered");
	return true;
}

/* Note a dispatch that is to be sent, with the newest run that there is. */
static void note(struct request *rq, struct dispatch *d)
{
	d->after_run_id = json_get_int(yyjson_arr_get_first(ask_runs(rq, d, 1)), "id", 0);
	pg_query(rq, DISPATCH_NOTE_SQL, pg_uuid(rq->caller.account), pg_text(d->in->key),
	         pg_text(d->repository.full_name), pg_text(d->in->workflow),
	         pg_int(d->after_run_id));
	d->is_perhaps = true;
}

/* Note that it is sent again: its run, too, can be seen only after a while. */
static void note_again(struct request *rq, const struct dispatch *d)
{
	pg_query(rq, DISPATCH_NOTE_AGAIN_SQL, pg_uuid(rq->caller.account), pg_text(d->in->key));
}

/* Dispatch once for the key, of which this request has the lock. Where only a known run is asked
 * for, nothing is sent, and the key ends: one that is on its way sends nothing any more. */
static void dispatch_once(struct request *rq, struct dispatch *d)
{
	bool is_answered = false;
	bool was_noted = is_known(rq, d, &is_answered);
	if (is_answered)
		return;
	if (!was_noted && d->in->is_only_known) {
		pg_query(rq, DISPATCH_END_SQL, pg_uuid(rq->caller.account), pg_text(d->in->key),
		         pg_text(d->repository.full_name), pg_text(d->in->workflow));
		return;
	}
	if (was_noted)
		look_again(rq, d);
	else
		note(rq, d);
	if (!d->run.id && !d->in->is_only_known) {
		if (was_noted)
			note_again(rq, d);
		send_dispatch(rq, d);
	}
	struct pg_rows *rows =
		pg_query(rq, DISPATCH_ANSWER_SQL, pg_uuid(rq->caller.account), pg_text(d->in->key),
	                 d->run.id ? pg_int(d->run.id) : pg_null(), pg_text(d->run.html_url));
	d->dispatched_at = arena_strdup(d->arena, pg_empty(rows) ? NULL : pg_value(rows, 0));
}

static void dispatch_run(struct request *rq)
{
	struct dispatch *d = rq->user;
	pg_query(rq, DISPATCH_EXPIRE_SQL, pg_uuid(rq->caller.account), pg_text(d->in->key),
	         pg_int(d->in->valid_s));
	d->is_perhaps = pg_value_bool(pg_query(rq, DISPATCH_IS_NOTED_SQL,
	                                       pg_uuid(rq->caller.account), pg_text(d->in->key)),
	                              0);
	d->repository = repository_open_anew(rq, d->in->repo, DISPATCH_PERMISSIONS);
	d->ref = d->in->ref ? d->in->ref : branch_default(rq, &d->repository);
	/* One lock for a workflow, so that no two dispatches without an answer look for one run. */
	replica_lock_take(rq, arena_printf(rq->arena, "dispatch %s %s",
	                                   repository_key(rq, &d->repository), d->in->workflow));
	dispatch_once(rq, d);
	replica_lock_give_up(rq);
	d->repository.full_name = arena_strdup(d->arena, d->repository.full_name);
	d->ref = arena_strdup(d->arena, d->ref);
}

/* Raise what has failed. Once a run may have been started, no failure is one of which nothing was
 * done. */
static attr_noreturn void fail(struct request *rq, const struct dispatch *d,
                               const struct problem *problem)
{
	if (!d->is_perhaps || !err_is_transient(problem->code))
		raise_problem(rq, problem);
	raise_retry_later(rq, ERR_UNCERTAIN, problem->retry_after_s,
	                  "whether the workflow was started is not known: %s",
	                  problem_detail(rq->arena, problem));
}

void workflow_dispatch(struct request *rq)
{
	struct dispatch d = {.in = request_input(rq, struct dispatch_input, DISPATCH_FIELDS),
	                     .arena = rq->arena};
	struct problem problem;
	check_inputs(rq);
	d.inputs = json_get(rq->http->json, "inputs");
	fiber_spawn(rq, dispatch_run, &d);
	if (fiber_join_try(rq, &problem))
		fail(rq, &d, &problem);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", d.repository.full_name);
	yyjson_mut_obj_add_str(doc, answer, "workflow", d.in->workflow);
	yyjson_mut_obj_add_str(doc, answer, "ref", d.ref);
	yyjson_mut_obj_add_val(doc, answer, "run_id",
	                       d.run.id ? yyjson_mut_sint(doc, d.run.id) : yyjson_mut_null(doc));
	json_add_text(doc, answer, "html_url", d.run.html_url);
	json_add_text(doc, answer, "dispatched_at", d.dispatched_at);
	yyjson_mut_obj_add_bool(doc, answer, "repeated", d.is_repeated);
	reply_doc(rq, 200, doc);
}
