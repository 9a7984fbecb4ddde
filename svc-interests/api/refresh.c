#include "api/refresh.h"

#include "base/json.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "loop/fiber.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "pool/pool.h"
#include "ranking/choosing.h"
#include "refresh.sql.h"

static double half_life_days; /* of a paper's recency */
static int64_t daily_hour;    /* UTC, from which on a day's run is due */
int64_t refresh_check_ms;

const struct setting REFRESH_SETTINGS[] = {
	SETTING_FLOAT(&half_life_days, "RECENCY_HALF_LIFE", "30", 1, 36500,
                      "Days after which being new counts half."),
	SETTING_INT(&daily_hour, "DAILY_HOUR", "0", 0, 23,
                    "Hour (UTC) from which on the day's recommendations are made."),
	SETTING_MS(&refresh_check_ms, "DAILY_CHECK", "1m", 50, 3600000,
                   "How often it is looked whether the day's recommendations are due."),
	SETTING_END,
};

/* Progress that is left for keeping what was chosen. */
#define CHOSEN_PERCENT 95

/* The columns of refresh_load. */
enum {
	LOAD_NAME,
	LOAD_CONTEXT,
	LOAD_VERSION,
	LOAD_DAILY_COUNT,
	LOAD_MODEL,
	LOAD_POOL,
	LOAD_SEEN,
};

/* One interest of a refresh, chosen for in a fiber of its own: pools are large, and its memory is
 * freed with it. */
struct choice {
	struct arena *arena; /* of the refresh */
	const char *interest;
	int64_t limit;    /* 0: its daily count */
	int64_t version;  /* of the interest's words */
	const char *json; /* the papers, in `arena`; NULL: the interest has gone */
};

/* What the pool's thread works on. */
struct errand {
	struct choosing_input input;
	struct arena *arena;
	const char *json;
};

static void choose_on_thread(void *arg)
{
	struct errand *errand = arg;
	errand->json = choose_papers(errand->arena, &errand->input);
}

static void choose(struct request *rq)
{
	struct choice *choice = rq->user;
	if (!pool_renew(rq, choice->interest))
		return;
	struct pg_rows *rows = pg_query(rq, REFRESH_LOAD_SQL, pg_text(choice->interest));
	if (pg_empty(rows))
		return;
	struct errand *errand = arena_new_of(rq->arena, struct errand);
	errand->arena = offload_arena(rq);
	struct judge_input *words = &errand->input.interest;
	words->name = pg_value(rows, 0, LOAD_NAME);
	words->context = pg_value(rows, 0, LOAD_CONTEXT);
	words->model = pg_value_bytes(rq->arena, rows, 0, LOAD_MODEL, &words->model_length);
	errand->input.pool_json = pg_value(rows, 0, LOAD_POOL);
	errand->input.seen_json = pg_value(rows, 0, LOAD_SEEN);
	errand->input.limit =
		(size_t)(choice->limit ? choice->limit : pg_value_int(rows, 0, LOAD_DAILY_COUNT));
	errand->input.half_life_days = half_life_days;
	errand->input.now_ms = time_now_ms();
	fiber_offload(rq, choose_on_thread, errand);
	choice->version = pg_value_int(rows, 0, LOAD_VERSION);
	choice->json = arena_strdup(choice->arena, errand->json);
}

/* What was kept of all choices. */
struct kept {
	struct buf result; /* members of the task's result */
	int64_t papers, interests;
	int64_t barren; /* interests that the index has nothing on */
};

/* Keep what was chosen for one interest; nothing where it has gone. */
static void keep(struct request *rq, const struct choice *choice, struct kept *kept)
{
	struct pg_rows *rows = pg_query(rq, REFRESH_KEEP_SQL, pg_text(choice->interest),
	                                pg_int(choice->version), pg_text(choice->json));
	if (pg_empty(rows))
		return;
	if (!pg_value_bool(rows, 0, 2))
		raise_error(rq, ERR_UNAVAILABLE, "the interest has just changed");
	buf_printf(&kept->result, "%s%s", kept->interests ? ", " : "", pg_json(rows));
	kept->papers += pg_value_int(rows, 0, 1);
	kept->interests++;
	kept->barren += pg_value_bool(rows, 0, 3);
}

/* `3 recommendations for 2 interests; the index has nothing on 1 of them`. */
static const char *summary(struct request *rq, const struct kept *kept)
{
	struct buf out = {.arena = rq->arena};
	buf_printf(&out, "%lld recommendation%s for %lld interest%s", (long long)kept->papers,
	           kept->papers == 1 ? "" : "s", (long long)kept->interests,
	           kept->interests == 1 ? "" : "s");
	if (kept->barren)
		buf_printf(&out, "; the index has nothing on %lld of them",
		           (long long)kept->barren);
	return out.data;
}

static void keep_all(struct request *rq, struct task *task, const struct choice *choices,
                     size_t count)
{
	struct kept kept = {.result = {.arena = rq->arena}};
	buf_puts(&kept.result, "{\"interests\": [");
	pg_begin(rq);
	for (size_t i = 0; i < count; i++)
		keep(rq, &choices[i], &kept);
	buf_puts(&kept.result, "]}");
	task_complete(rq, task, kept.result.data, summary(rq, &kept));
	pg_commit(rq);
}

void refresh_run(struct request *rq, struct task *task)
{
	int64_t limit = json_get_int(task->input, "num_results", 0);
	struct pg_rows *targets = pg_query(rq, REFRESH_TARGETS_SQL, pg_text(task->account),
	                                   pg_text(json_get_text(task->input, "interest_id")));
	struct choice *choices = arena_array(rq->arena, (size_t)targets->count, sizeof(*choices));
	size_t count = 0;
	for (int i = 0; i < targets->count; i++) {
		choices[count] = (struct choice){
			.interest = pg_value(targets, i, 0),
			.limit = limit,
			.arena = rq->arena,
		};
		fiber_spawn(rq, choose, &choices[count]);
		fiber_join(rq);
		count += choices[count].json != NULL;
		task_progress(rq, task, CHOSEN_PERCENT * (i + 1) / targets->count, NULL);
	}
	keep_all(rq, task, choices, count);
}

void refresh_daily(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, DAILY_START_SQL, pg_int(daily_hour));
	if (!pg_empty(rows))
		log_info(LOG_GROUP_APP, "daily run started", f_text("day", pg_value(rows, 0, 0)),
		         f_int("tasks", pg_value_int(rows, 0, 1)));
}
