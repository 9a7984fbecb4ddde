#include "api/history.h"
#include "base/json.h"
#include "history.sql.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "pool/pool.h"
#include "ranking/fitting.h"

#include <math.h>

#define GONE "the interest has gone"

/* What the pool's thread works on. */
struct errand {
	struct fitting_input input;
	struct arena *arena;
	struct fitting_result result;
};

static void fit_on_thread(void *arg)
{
	struct errand *errand = arg;
	errand->result = fit_model(errand->arena, &errand->input);
}

/* Experiments may be about papers that were never in a pool. */
static void fetch_unknown(struct request *rq, const char *interest)
{
	struct pg_rows *rows = pg_query(rq, REFIT_UNKNOWN_SQL, pg_text(interest));
	const char *ids = pg_value(rows, 0, 0);
	if (ids)
		pg_query(rq, PAPER_SAVE_SQL, pg_text(pool_lookup(rq, ids)));
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

static void keep(struct request *rq, struct task *task, const char *interest,
                 const struct fitting_result *result)
{
	pg_begin(rq);
	struct pg_rows *saved = pg_query(rq, REFIT_SAVE_SQL, pg_text(interest),
	                                 pg_bytes(result->model.data, result->model.length));
	if (pg_empty(saved))
		task_complete(rq, task, "{}", GONE);
	else
		task_complete(rq, task, result_json(rq, pg_value_int(saved, 0, 0), result),
		              result->message);
	pg_commit(rq);
}

void refit_run(struct request *rq, struct task *task)
{
	const char *interest = json_get_text(task->input, "interest_id");
	fetch_unknown(rq, interest);
	struct pg_rows *rows = pg_query(rq, REFIT_LOAD_SQL, pg_text(interest));
	if (pg_empty(rows)) {
		task_complete(rq, task, "{}", GONE);
		return;
	}
	struct errand *errand = arena_new_of(rq->arena, struct errand);
	errand->arena = offload_arena(rq);
	errand->input.interest.name = pg_value(rows, 0, 0);
	errand->input.interest.context = pg_value(rows, 0, 1);
	errand->input.examples_json = pg_value(rows, 0, 3);
	errand->input.pool_json = pg_value(rows, 0, 4);
	fiber_offload(rq, fit_on_thread, errand);
	if (errand->result.model.data)
		keep(rq, task, interest, &errand->result);
	else
		task_complete(rq, task, result_json(rq, pg_value_int(rows, 0, 2), &errand->result),
		              errand->result.message);
}
