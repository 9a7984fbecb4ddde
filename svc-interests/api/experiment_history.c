#include "api/experiment_history.h"

#include "api/candidate_input.h"
#include "base/json.h"
#include "experiment_history.sql.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "pool/pool.h"
#include "preference/model_fitting.h"
#include "preference/scorer.h"
#include "service/input.h"
#include "service/key_limit.h"
#include "service/resource.h"

#include <math.h>

#define SCORE_LIMIT_MAX    500
#define SCORE_POOL_DEFAULT 20
#define EXAMPLES_MAX       5000 /* papers with signals that a model is fitted to */
#define INTEREST_DELETED   "the interest was deleted"

struct history_input {
	const char *id, *task;
	const char *candidates; /* JSON array; NULL: not given */
	int64_t limit;          /* 0: not given */
};

static const struct field SCORE_FIELDS[] = {
	PATH_UUID(struct history_input, id, "history_id"),
	{IN_BODY, FIELD_ARRAY, "candidates",
         FIELD_AT(struct history_input, candidates, const char *), NULLABLE, 0, CANDIDATES_MAX,
         .bytes_max = SIZE_MAX}, /* not stored; the body is limited */
	{IN_BODY, FIELD_LIMIT, "limit", FIELD_AT(struct history_input, limit, int64_t), OPTIONAL, 1,
         SCORE_LIMIT_MAX},
	FIELD_END,
};

static const struct field REFIT_FIELDS[] = {
	PATH_UUID(struct history_input, id, "history_id"),
	FIELD_END,
};

static const struct constraint REFIT_CONSTRAINTS[] = {
	CONSTRAINT_TASK_PENDING_MAX,
	{0},
};

static const struct field TASK_FIELDS[] = {
	PATH_UUID(struct history_input, id, "history_id"),
	PATH_UUID(struct history_input, task, "task_id"),
	FIELD_END,
};

/* Raise ERR_FORBIDDEN when the key is limited to another interest than that of the history. */
static void require_history(struct request *rq, const char *history)
{
	if (!rq->caller.interest)
		return;
	struct pg_rows *rows =
		pg_query(rq, HISTORY_INTEREST_SQL, pg_uuid(rq->caller.account), pg_text(history));
	if (!pg_empty(rows))
		require_interest(rq, pg_value(rows, 0, 0));
}

/* Scoring on the thread pool: input, arena and result. */
struct score_work_item {
	struct score_input input;
	struct arena *arena;
	const char *json;
};

static void score_on_thread(void *arg)
{
	struct score_work_item *work = arg;
	work->json = score_candidates(work->arena, &work->input);
}

void candidates_score(struct request *rq)
{
	struct history_input *in = request_input(rq, struct history_input, SCORE_FIELDS);
	require_history(rq, in->id);
	yyjson_val *candidates = json_get(rq->http->json, "candidates");
	candidate_input_check(rq, candidates);
	struct pg_rows *rows =
		pg_query(rq, HISTORY_LOAD_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	require_row(rq, rows, "no such experiment history");
	size_t count = yyjson_arr_size(candidates);
	struct score_work_item *work = arena_new_of(rq->arena, struct score_work_item);
	work->arena = offload_arena(rq);
	struct score_input *input = &work->input;
	input->interest.name = pg_value(rows, 0, 0);
	input->interest.context = pg_value(rows, 0, 1);
	input->interest.model =
		pg_value_bytes(rq->arena, rows, 0, 2, &input->interest.model_length);
	input->model_version = pg_value_int(rows, 0, 3);
	input->pool_json = pg_value(rows, 0, 4);
	input->candidates_json = count ? candidate_input_load(rq, candidates) : NULL;
	input->limit = in->limit ? (size_t)in->limit : count ? count : SCORE_POOL_DEFAULT;
	fiber_offload(rq, LANE_SHORT, score_on_thread, work);
	reply_json(rq, 200, work->json);
}

void preference_model_refit(struct request *rq)
{
	struct history_input *in = request_input(rq, struct history_input, REFIT_FIELDS);
	require_history(rq, in->id);
	struct pg_rows *rows =
		pg_write(rq, REFIT_CONSTRAINTS, REFIT_START_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->id), pg_text(rq->id));
	require_row(rq, rows, "no such experiment history");
	reply_task(rq, pg_json(rows),
	           arena_printf(rq->arena,
	                        "/api/v1.0/experiment-histories/%s/refit-preference-model/%s",
	                        in->id, pg_value(rows, 0, 1)));
}

void refit_task_get(struct request *rq)
{
	struct history_input *in = request_input(rq, struct history_input, TASK_FIELDS);
	require_history(rq, in->id);
	struct pg_rows *rows = pg_query(rq, REFIT_TASK_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->id), pg_text(in->task));
	reply_one(rq, 200, rows, "no such task");
}

/* Model fitting on the thread pool: input, arena and result. */
struct fit_work_item {
	struct fitting_input input;
	struct arena *arena;
	struct fitting_result result;
};

static void fit_on_thread(void *arg)
{
	struct fit_work_item *work = arg;
	work->result = fit_model(work->arena, &work->input);
}

/* Store papers that have a signal and are not stored yet: an experiment can be about a paper that was
 * never in a pool. */
static void store_unknown_papers(struct request *rq, const char *interest)
{
	struct pg_rows *batches =
		pg_query(rq, REFIT_UNKNOWN_PAPERS_SQL, pg_text(interest),
	                 pg_int(POOL_LOOKUP_ID_MAX), pg_int(EXAMPLES_MAX), pg_int(POOL_LOOKUP_MAX));
	for (int i = 0; i < batches->count; i++)
		pg_query(rq, REFIT_SAVE_PAPERS_SQL,
		         pg_text(pool_lookup(rq, pg_value(batches, i, 0))));
}

static const char *result_json(struct request *rq, int64_t version,
                               const struct fitting_result *result)
{
	return arena_printf(
		rq->arena,
		"{\"model_version\": %lld, \"examples\": %zu, \"positives\": %zu, \"auc\": %s}",
		(long long)version, result->examples, result->positives,
		isnan(result->auc) ? "null" : arena_printf(rq->arena, "%.4f", result->auc));
}

/* Columns of refit_load. */
enum { REFIT_NAME, REFIT_CONTEXT, REFIT_VERSION, REFIT_EXAMPLES, REFIT_POOL, REFIT_READ_AT };

static void save_model(struct request *rq, struct task *task, const char *interest,
                       const struct pg_rows *loaded, const struct fitting_result *result)
{
	pg_begin(rq);
	struct pg_rows *saved = pg_query(rq, REFIT_SAVE_SQL, pg_text(interest),
	                                 pg_bytes(result->model.data, result->model.length),
	                                 pg_text(pg_value(loaded, 0, REFIT_READ_AT)));
	if (pg_empty(saved))
		task_complete(rq, task, "{}", INTEREST_DELETED);
	else
		task_complete(rq, task, result_json(rq, pg_value_int(saved, 0, 0), result),
		              pg_value_bool(saved, 0, 1)
		                      ? result->message
		                      : "a model fitted to newer feedback was kept");
	pg_commit(rq);
}

void refit_run(struct request *rq, struct task *task)
{
	const char *interest = json_get_text(task->input, "interest_id");
	store_unknown_papers(rq, interest);
	struct pg_rows *rows =
		pg_query(rq, REFIT_LOAD_SQL, pg_text(interest), pg_int(EXAMPLES_MAX));
	if (pg_empty(rows)) {
		task_complete(rq, task, "{}", INTEREST_DELETED);
		return;
	}
	struct fit_work_item *work = arena_new_of(rq->arena, struct fit_work_item);
	work->arena = offload_arena(rq);
	work->input.interest.name = pg_value(rows, 0, REFIT_NAME);
	work->input.interest.context = pg_value(rows, 0, REFIT_CONTEXT);
	work->input.examples_json = pg_value(rows, 0, REFIT_EXAMPLES);
	work->input.pool_json = pg_value(rows, 0, REFIT_POOL);
	fiber_offload(rq, LANE_LONG, fit_on_thread, work);
	if (work->result.model.data)
		save_model(rq, task, interest, rows, &work->result);
	else
		task_complete(rq, task,
		              result_json(rq, pg_value_int(rows, 0, REFIT_VERSION), &work->result),
		              work->result.message);
}
