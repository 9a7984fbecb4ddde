#include "api/experiment_history.h"

#include "api/candidate_input.h"
#include "experiment_history.sql.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "preference/scorer.h"
#include "reply/resource.h"

#include <string.h>

#define SCORE_LIMIT_MAX    500
#define SCORE_POOL_DEFAULT 20

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
		require_interest(rq, pg_value(rows, 0));
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

/* Vectors of another version than the interest's do not count. The interest follows soon, see
 * refit.h. */
static void note_version(struct request *rq, const char *named, const char *used)
{
	if (named && (!used || strcmp(named, used) != 0))
		pg_query(rq, EMBEDDER_SEEN_SQL, pg_text(named));
}

void candidates_score(struct request *rq)
{
	yyjson_val *candidates = json_get(request_body(rq), "candidates");
	candidate_input_check(rq, candidates);
	struct history_input *in = request_input(rq, struct history_input, SCORE_FIELDS);
	require_history(rq, in->id);
	struct pg_rows *rows =
		pg_query(rq, HISTORY_LOAD_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	require_row(rq, rows, "no such experiment history");
	size_t count = yyjson_arr_size(candidates);
	if (yyjson_is_arr(candidates) && !count) {
		reply_json(rq, 200, "[]");
		return;
	}
	struct score_work_item *work = arena_new_of(rq->arena, struct score_work_item);
	work->arena = offload_arena(rq);
	struct score_input *input = &work->input;
	input->interest.name = pg_get(rows, 0, "name");
	input->interest.context = pg_get(rows, 0, "context");
	input->interest.model =
		pg_get_bytes(rq->arena, rows, 0, "model", &input->interest.model_length);
	input->interest.frequencies = pg_get_bytes(rq->arena, rows, 0, "frequencies",
	                                           &input->interest.frequencies_length);
	input->model_version = pg_get_int(rows, 0, "version");
	input->pool_json = pg_get(rows, 0, "pool");
	if (count) {
		const char *version = NULL;
		input->candidates_json = candidate_input_load(rq, candidates, &version);
		note_version(rq, version, pg_get(rows, 0, "embedder"));
	}
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
	                        in->id, pg_get(rows, 0, "id")));
}

void refit_task_get(struct request *rq)
{
	struct history_input *in = request_input(rq, struct history_input, TASK_FIELDS);
	require_history(rq, in->id);
	struct pg_rows *rows = pg_query(rq, REFIT_TASK_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->id), pg_text(in->task));
	reply_one(rq, 200, rows, "no such task");
}
