#include "api/history.h"

#include "base/json.h"
#include "history.sql.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "pool/candidates.h"
#include "ranking/scoring.h"
#include "service/input.h"
#include "service/resource.h"

#define SCORE_LIMIT_MAX    500
#define SCORE_POOL_DEFAULT 20

struct history_input {
	const char *id, *task;
	const char *candidates; /* JSON array; NULL: not given */
	int64_t limit;          /* 0: not given */
};

static const struct field SCORE_FIELDS[] = {
	PATH_UUID(struct history_input, id, "history_id"),
	BODY_ARRAY(struct history_input, candidates, "candidates", NULLABLE, 0, CANDIDATES_MAX),
	{IN_BODY, FIELD_LIMIT, "limit", FIELD_AT(struct history_input, limit, int64_t), OPTIONAL, 1,
         SCORE_LIMIT_MAX},
	FIELD_END,
};

static const struct field REFIT_FIELDS[] = {
	PATH_UUID(struct history_input, id, "history_id"),
	FIELD_END,
};

static const struct field TASK_FIELDS[] = {
	PATH_UUID(struct history_input, id, "history_id"),
	PATH_UUID(struct history_input, task, "task_id"),
	FIELD_END,
};

/* What the pool's thread works on. */
struct errand {
	struct scoring_input input;
	struct arena *arena;
	const char *json;
};

static void score_on_thread(void *arg)
{
	struct errand *errand = arg;
	errand->json = score_papers(errand->arena, &errand->input);
}

void history_score(struct request *rq)
{
	struct history_input *in = request_input(rq, struct history_input, SCORE_FIELDS);
	yyjson_val *candidates = json_get(rq->http->json, "candidates");
	candidates_check(rq, candidates);
	struct pg_rows *rows =
		pg_query(rq, HISTORY_LOAD_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	require_row(rq, rows, "no such experiment history");
	size_t count = yyjson_arr_size(candidates);
	struct errand *errand = arena_new_of(rq->arena, struct errand);
	errand->arena = offload_arena(rq);
	struct scoring_input *input = &errand->input;
	input->interest.name = pg_value(rows, 0, 0);
	input->interest.context = pg_value(rows, 0, 1);
	input->interest.model =
		pg_value_bytes(rq->arena, rows, 0, 2, &input->interest.model_length);
	input->model_version = pg_value_int(rows, 0, 3);
	input->pool_json = pg_value(rows, 0, 4);
	input->candidates_json = count ? candidates_read(rq, candidates) : NULL;
	input->limit = in->limit ? (size_t)in->limit : count ? count : SCORE_POOL_DEFAULT;
	fiber_offload(rq, score_on_thread, errand);
	reply_json(rq, 200, errand->json);
}

void history_refit(struct request *rq)
{
	struct history_input *in = request_input(rq, struct history_input, REFIT_FIELDS);
	struct pg_rows *rows = pg_query(rq, REFIT_START_SQL, pg_uuid(rq->caller.account),
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
	struct pg_rows *rows = pg_query(rq, REFIT_TASK_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->id), pg_text(in->task));
	reply_one(rq, 200, rows, "no such task");
}
