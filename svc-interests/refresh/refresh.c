#include "refresh/refresh.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "loop/fiber.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "pool/candidates.h"
#include "pool/papers.h"
#include "pool/pool.h"
#include "ranking/final_score.h"
#include "ranking/recommend.h"
#include "refresh.sql.h"
#include "refresh/daily_turn.h"
#include "refresh/refit.h"
#include "source/source.h"

#include <math.h>
#include <stdlib.h>

static double half_life_days; /* of recency */

const struct setting REFRESH_SETTINGS[] = {
	SETTING_FLOAT(&half_life_days, "RECENCY_HALF_LIFE", "30", 1, 36500,
                      "Half-life, in days, of the recency in a paper's score."),
	SETTING_END,
};

/* How often an interest that is changed or refreshed meanwhile is computed again within one attempt
 * of the task. */
#define COMPUTATIONS_MAX 5

/* Candidates that are read at first. */
#define CANDIDATES_FIRST ((size_t)32)

/* The refresh of one interest. It runs in a separate fiber, so that the memory of the candidates is
 * freed before the next interest. */
struct interest_refresh {
	struct task *task;
	const char *interest;
	int64_t limit; /* 0: the interest's daily count */
	int percent;   /* progress of the task when this interest is stored */
	bool is_daily; /* nobody waits for it */
	/* it was changed, or refreshed by another task, meanwhile: nothing was stored */
	bool is_changed;
	struct pool_search *search; /* of the candidates; NULL: svc-search is unavailable */
};

/* Recommending on the thread pool: input, arena and result. */
struct work_item {
	struct recommend_input input;
	struct arena *arena;
	struct recommendations *selected;
	const char *ids;          /* of the selected papers, a JSON array; NULL: none */
	const char *explanations; /* the answer of svc-search that explains them; NULL: none */
	const char *json;         /* the recommendations */
};

static void select_on_thread(void *arg)
{
	struct work_item *work = arg;
	work->selected = recommend_papers(work->arena, &work->input);
	if (work->selected)
		work->ids = recommendations_ids(work->selected);
}

static void explain_on_thread(void *arg)
{
	struct work_item *work = arg;
	work->json = recommendations_json(work->selected, work->explanations);
}

static struct recommend_input input_of(struct request *rq, const struct pg_rows *rows,
                                       int64_t limit)
{
	struct recommend_input input = {
		.interest = {.name = pg_get(rows, 0, "name"),
	                     .context = pg_get(rows, 0, "whole_context")},
		.model_version = pg_get_int(rows, 0, "model_version"),
		.embedder = pg_get(rows, 0, "embedder"),
		.limit = (size_t)(limit ? limit : pg_get_int(rows, 0, "daily_count")),
		.half_life_days = half_life_days,
	};
	struct interest *interest = &input.interest;
	interest->model = pg_get_bytes(rq->arena, rows, 0, "model", &interest->model_length);
	interest->frequency_table = papers_frequencies(rq, pg_get(rows, 0, "drawn_at"));
	return input;
}

static struct candidate_source source_of(struct request *rq, const struct interest_refresh *refresh,
                                         const struct pg_rows *rows,
                                         const struct recommend_input *input)
{
	const char *examples = pg_get(rows, 0, "examples");
	return (struct candidate_source){
		.interest = refresh->interest,
		.context = pg_get(rows, 0, "context"),
		.form = {input->embedder, input->interest.frequency_table},
		.recommended = json_parse_own(rq->arena, pg_get(rows, 0, "recommended")),
		.examples = examples ? json_parse_own(rq->arena, examples) : NULL,
		.search = refresh->search,
	};
}

/* The base score of a candidate in an interest without a model, unless the interest refuses what it
 * is about, which its text says. Infinite where nothing is known of it without its paper. */
static double base_score_at_most(const struct candidate_row *row, int64_t now_ms)
{
	struct candidate candidate = {
		.retrieval = row->relevance,
		.age_days = paper_age_days(row->published_before_ms, now_ms),
		.has_container = row->has_container,
	};
	return row->is_described
	               ? base_score(&candidate,
	                            &(struct score_options){.half_life_days = half_life_days})
	               : INFINITY;
}

static int best_first(const void *a, const void *b)
{
	const struct candidate_row *left = a, *right = b;
	double x = left->base_score_at_most, y = right->base_score_at_most;
	return (x < y) - (x > y);
}

/* Select among the best candidates, as many as it takes. A model knows only by its paper whether a
 * candidate is good, so that all are read. */
static void select_papers_of(struct request *rq, struct work_item *work,
                             const struct candidate_source *source)
{
	size_t count;
	struct candidate_row *rows = candidates_find(rq, source, &count);
	int64_t now_ms = time_now_ms();
	for (size_t i = 0; i < count; i++)
		rows[i].base_score_at_most = base_score_at_most(&rows[i], now_ms);
	if (count > 0)
		qsort(rows, count, sizeof(*rows), best_first);
	work->input.recommended = candidates_recommended(rq, source);
	work->input.examples = candidates_examples(rq, source);
	size_t read = work->input.interest.model ? count : CANDIDATES_FIRST;
	while (read < count && isinf(rows[read].base_score_at_most))
		read++;
	do {
		read = MIN_OF(read, count);
		work->input.pool = candidates_load(rq, source, rows, read);
		work->input.base_score_outside = read < count ? rows[read].base_score_at_most : 0;
		fiber_offload(rq, LANE_LONG, select_on_thread, work);
		read *= 2;
	} while (!work->selected);
}

/* The recommendations, as JSON in the form of refresh_save. */
static const char *recommend(struct request *rq, struct interest_refresh *refresh,
                             const struct pg_rows *rows)
{
	struct work_item *work = arena_new_of(rq->arena, struct work_item);
	work->arena = offload_arena(rq);
	work->input = input_of(rq, rows, refresh->limit);
	struct candidate_source source = source_of(rq, refresh, rows, &work->input);
	select_papers_of(rq, work, &source);
	if (work->ids && refresh->search)
		work->explanations = pool_explain(rq, refresh->search, work->ids);
	fiber_offload(rq, LANE_LONG, explain_on_thread, work);
	return work->json;
}

/* Store the recommendations, unless the interest was changed, refreshed or deleted since it was
 * `loaded`. The transaction locks the interest before the task, as every statement that locks
 * both. */
static void store(struct request *rq, struct interest_refresh *refresh,
                  const struct pg_rows *loaded, const char *recommendations)
{
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, REFRESH_SAVE_SQL, pg_text(refresh->interest),
	                                pg_int(pg_get_int(loaded, 0, "pool_version")),
	                                pg_text(recommendations), pg_text(refresh->task->id),
	                                pg_text(pg_get(loaded, 0, "last_recommendation_at")),
	                                pg_text(refresh->is_daily ? "on" : "off"));
	refresh->is_changed = !pg_empty(rows) && !pg_get_bool(rows, 0, "is_unchanged");
	task_progress(rq, refresh->task, refresh->percent, NULL);
	pg_commit(rq);
}

static void refresh_interest(struct request *rq)
{
	struct interest_refresh *refresh = rq->user;
	refresh->search = NULL;
	sources_read(rq, refresh->interest); /* takes long, and no processor */
	if (refresh->is_daily)
		daily_turn_take(rq);
	enum pool_renewal renewal = pool_renew(rq, refresh->interest, &refresh->search);
	refresh->is_changed = renewal == POOL_INTEREST_CHANGED;
	if (renewal != POOL_RENEWED)
		return;
	refit_follow(rq, refresh->interest);
	struct pg_rows *rows = pg_query(rq, REFRESH_LOAD_SQL, pg_text(refresh->interest));
	if (!pg_empty(rows))
		store(rq, refresh, rows, recommend(rq, refresh, rows));
}

/* Refresh one interest; compute again when it was changed or refreshed meanwhile. Returns the code
 * of the failure, with its detail in `ret_problem`. */
static enum err_code refresh_one(struct request *rq, struct interest_refresh *refresh,
                                 struct problem *ret_problem)
{
	for (int i = 0; i < COMPUTATIONS_MAX; i++) {
		fiber_spawn(rq, refresh_interest, refresh);
		enum err_code code = fiber_join_try(rq, ret_problem);
		if (code || !refresh->is_changed)
			return code;
	}
	*ret_problem = (struct problem){
		.code = ERR_CONTENTION,
		.detail = "an interest was changed or refreshed again and again during the refresh",
	};
	return ERR_CONTENTION;
}

static void add_part(struct buf *out, const char *what, long long count, long long interests)
{
	if (count && interests == 1)
		buf_printf(out, "; %s it", what);
	else if (count)
		buf_printf(out, "; %s %lld of them", what, count);
}

/* `3 recommendations for 2 interests; no papers in the index match 1 of them; no more papers fit 1
 * of them`. `rows` is a row of refresh_end. */
static const char *summary(struct request *rq, const struct pg_rows *rows)
{
	long long interests = pg_get_int(rows, 0, "interests"),
		  papers = pg_get_int(rows, 0, "papers");
	long long empty_pools = pg_get_int(rows, 0, "empty_pools"),
		  short_lists = pg_get_int(rows, 0, "short_lists");
	struct buf out = {.arena = rq->arena};
	buf_printf(&out, "%lld recommendation%s for %lld interest%s", papers,
	           papers == 1 ? "" : "s", interests, interests == 1 ? "" : "s");
	add_part(&out, "no papers in the index match", empty_pools, interests);
	add_part(&out, "no more papers fit", short_lists, interests);
	return out.data;
}

static void complete(struct request *rq, struct task *task)
{
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, REFRESH_END_SQL, pg_text(task->id));
	task_complete(rq, task, pg_json(rows), summary(rq, rows));
	pg_commit(rq);
}

/* A failure ends the attempt only after the other interests are stored. The next attempt continues
 * with those that are left. */
void refresh_run(struct request *rq, struct task *task)
{
	struct pg_rows *targets =
		pg_query(rq, REFRESH_TARGETS_SQL, pg_text(task->account),
	                 pg_text(json_get_text(task->input, "interest_id")), pg_text(task->id));
	struct problem failure = {0};
	for (int i = 0; i < targets->count; i++) {
		struct interest_refresh *refresh = arena_new_of(rq->arena, struct interest_refresh);
		*refresh = (struct interest_refresh){
			.task = task,
			.interest = pg_value(targets, i),
			.limit = json_get_int(task->input, "num_results", 0),
			.percent = 100 * (i + 1) / (targets->count + 1),
			.is_daily = json_get(task->input, "day") != NULL,
		};
		struct problem problem;
		if (refresh_one(rq, refresh, &problem) && !failure.code)
			failure = problem;
	}
	if (failure.code)
		raise_error(rq, failure.code, "%s",
		            failure.detail ? failure.detail : err_info(failure.code)->detail);
	complete(rq, task);
}
