#include "api/refresh.h"

#include "api/scratch.h"
#include "api/settings.h"
#include "base/json.h"
#include "base/timefmt.h"
#include "loop/fiber.h"
#include "loop/offload.h"
#include "pg/pg.h"
#include "pool/pool.h"
#include "ranking/choosing.h"
#include "refresh.sql.h"

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

/* One interest of a refresh, handed to a request of its own: pools are large, and its memory goes
 * with it. */
struct choice {
	struct request *parent;
	const char *interest;
	int64_t limit;    /* 0: its daily count */
	int64_t version;  /* of the interest's words */
	const char *json; /* the papers, in the parent's arena; NULL: the interest has gone */
	struct problem problem;
	bool is_done;
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
	rq->caller = choice->parent->caller;
	rq->traceparent = choice->parent->traceparent;
	if (!pool_renew(rq, choice->interest))
		return;
	struct pg_rows *rows = pg_query(rq, REFRESH_LOAD_SQL, pg_text(choice->interest));
	if (pg_empty(rows))
		return;
	struct errand *errand = arena_new_of(rq->arena, struct errand);
	errand->arena = scratch_new(rq);
	struct judge_input *words = &errand->input.interest;
	words->name = pg_value(rows, 0, LOAD_NAME);
	words->context = pg_value(rows, 0, LOAD_CONTEXT);
	words->model = pg_value_bytes(rq->arena, rows, 0, LOAD_MODEL, &words->model_length);
	errand->input.pool_json = pg_value(rows, 0, LOAD_POOL);
	errand->input.seen_json = pg_value(rows, 0, LOAD_SEEN);
	errand->input.limit =
		(size_t)(choice->limit ? choice->limit : pg_value_int(rows, 0, LOAD_DAILY_COUNT));
	errand->input.half_life_days = interests_settings.half_life_days;
	errand->input.now_ms = time_now_ms();
	request_offload(rq, choose_on_thread, errand);
	choice->version = pg_value_int(rows, 0, LOAD_VERSION);
	choice->json = arena_strdup(choice->parent->arena, errand->json);
}

static void chosen(struct request *rq)
{
	struct choice *choice = rq->user;
	struct arena *arena = choice->parent->arena;
	choice->problem = (struct problem){
		.code = rq->problem.code,
		.detail = arena_strdup(arena, rq->problem.detail),
	};
	choice->is_done = true;
	fiber_wake(choice->parent->fiber);
}

/* Choose for one interest; false: it has gone. The wait does not end early, since the other request
 * writes into this one's arena; its deadline is this one's. */
static bool choose_apart(struct request *rq, struct choice *choice)
{
	choice->parent = rq;
	request_spawn(rq->worker, rq->id, request_left_ms(rq), choose, chosen, choice);
	while (!choice->is_done)
		fiber_wait_uncancelled();
	if (choice->problem.code)
		raise_error(rq, choice->problem.code, "%s",
		            choice->problem.detail ? choice->problem.detail
		                                   : "no papers could be chosen");
	return choice->json != NULL;
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
		};
		count += choose_apart(rq, &choices[count]);
		task_progress(rq, task, CHOSEN_PERCENT * (i + 1) / targets->count, NULL);
	}
	keep_all(rq, task, choices, count);
}
