#include "api/refresh.h"

#include "base/json.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "loop/fiber.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "pool/pool.h"
#include "ranking/recommend.h"
#include "refresh.sql.h"

static double half_life_days; /* of recency */
static int64_t daily_hour;    /* UTC, at which the daily run is due */
int64_t refresh_check_ms;

const struct setting REFRESH_SETTINGS[] = {
	SETTING_FLOAT(&half_life_days, "RECENCY_HALF_LIFE", "30", 1, 36500,
                      "Half-life, in days, of the recency in a paper's score."),
	SETTING_INT(&daily_hour, "DAILY_HOUR", "0", 0, 23,
                    "Hour (UTC) at which the daily recommendations are made."),
	SETTING_MS(&refresh_check_ms, "DAILY_CHECK", "1m", 50, 3600000,
                   "Interval of checking whether the daily recommendations are due."),
	SETTING_END,
};

/* Progress of the task when all papers are selected and nothing is stored yet. */
#define SELECTED_PERCENT 95

/* The columns of refresh_load. */
enum {
	LOAD_NAME,
	LOAD_CONTEXT,
	LOAD_VERSION,
	LOAD_DAILY_COUNT,
	LOAD_MODEL,
	LOAD_POOL,
	LOAD_RECOMMENDED,
};

/* The recommendations for one interest. They are made in a separate fiber, so that the memory of the
 * pool, which is large, is freed before the next interest. */
struct recommendations {
	struct arena *arena; /* of the refresh */
	const char *interest;
	int64_t limit;    /* 0: the interest's daily count */
	int64_t version;  /* pool_version when the papers were selected */
	const char *json; /* from recommend_papers(), in `arena`; NULL: the interest was deleted */
};

/* Recommending on the thread pool: input, arena and result. */
struct work_item {
	struct recommend_input input;
	struct arena *arena;
	const char *json;
};

static void recommend_on_thread(void *arg)
{
	struct work_item *work = arg;
	work->json = recommend_papers(work->arena, &work->input);
}

static void recommend(struct request *rq)
{
	struct recommendations *made = rq->user;
	if (!pool_renew(rq, made->interest))
		return;
	struct pg_rows *rows = pg_query(rq, REFRESH_LOAD_SQL, pg_text(made->interest));
	if (pg_empty(rows))
		return;
	struct work_item *work = arena_new_of(rq->arena, struct work_item);
	work->arena = offload_arena(rq);
	struct interest *interest = &work->input.interest;
	interest->name = pg_value(rows, 0, LOAD_NAME);
	interest->context = pg_value(rows, 0, LOAD_CONTEXT);
	interest->model = pg_value_bytes(rq->arena, rows, 0, LOAD_MODEL, &interest->model_length);
	work->input.pool_json = pg_value(rows, 0, LOAD_POOL);
	work->input.recommended_json = pg_value(rows, 0, LOAD_RECOMMENDED);
	work->input.limit =
		(size_t)(made->limit ? made->limit : pg_value_int(rows, 0, LOAD_DAILY_COUNT));
	work->input.half_life_days = half_life_days;
	work->input.now_ms = time_now_ms();
	fiber_offload(rq, recommend_on_thread, work);
	made->version = pg_value_int(rows, 0, LOAD_VERSION);
	made->json = arena_strdup(made->arena, work->json);
}

/* Totals of a refresh. */
struct totals {
	struct buf result; /* the task's result */
	int64_t papers, interests;
	int64_t empty_pools; /* interests that no paper of the index matches */
};

/* Store the recommendations for one interest, unless it was deleted. */
static void save(struct request *rq, const struct recommendations *made, struct totals *totals)
{
	struct pg_rows *rows = pg_query(rq, REFRESH_SAVE_SQL, pg_text(made->interest),
	                                pg_int(made->version), pg_text(made->json));
	if (pg_empty(rows))
		return;
	if (!pg_value_bool(rows, 0, 2))
		raise_error(rq, ERR_UNAVAILABLE, "the interest was changed during the refresh");
	buf_printf(&totals->result, "%s%s", totals->interests ? ", " : "", pg_json(rows));
	totals->papers += pg_value_int(rows, 0, 1);
	totals->interests++;
	totals->empty_pools += pg_value_bool(rows, 0, 3);
}

/* `3 recommendations for 2 interests; no papers in the index match 1 of them`. */
static const char *summary(struct request *rq, const struct totals *totals)
{
	struct buf out = {.arena = rq->arena};
	buf_printf(&out, "%lld recommendation%s for %lld interest%s", (long long)totals->papers,
	           totals->papers == 1 ? "" : "s", (long long)totals->interests,
	           totals->interests == 1 ? "" : "s");
	if (totals->empty_pools)
		buf_printf(&out, "; no papers in the index match %lld of them",
		           (long long)totals->empty_pools);
	return out.data;
}

static void save_all(struct request *rq, struct task *task, const struct recommendations *made,
                     size_t count)
{
	struct totals totals = {.result = {.arena = rq->arena}};
	buf_puts(&totals.result, "{\"interests\": [");
	pg_begin(rq);
	for (size_t i = 0; i < count; i++)
		save(rq, &made[i], &totals);
	buf_puts(&totals.result, "]}");
	task_complete(rq, task, totals.result.data, summary(rq, &totals));
	pg_commit(rq);
}

void refresh_run(struct request *rq, struct task *task)
{
	int64_t limit = json_get_int(task->input, "num_results", 0);
	struct pg_rows *targets = pg_query(rq, REFRESH_TARGETS_SQL, pg_text(task->account),
	                                   pg_text(json_get_text(task->input, "interest_id")));
	struct recommendations *made =
		arena_array(rq->arena, (size_t)targets->count, sizeof(*made));
	size_t count = 0;
	for (int i = 0; i < targets->count; i++) {
		made[count] = (struct recommendations){
			.interest = pg_value(targets, i, 0),
			.limit = limit,
			.arena = rq->arena,
		};
		fiber_spawn(rq, recommend, &made[count]);
		fiber_join(rq);
		count += made[count].json != NULL;
		task_progress(rq, task, SELECTED_PERCENT * (i + 1) / targets->count, NULL);
	}
	save_all(rq, task, made, count);
}

void refresh_daily(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, DAILY_START_SQL, pg_int(daily_hour));
	if (!pg_empty(rows))
		log_info(LOG_GROUP_APP, "daily run started", f_text("day", pg_value(rows, 0, 0)),
		         f_int("tasks", pg_value_int(rows, 0, 1)));
}
