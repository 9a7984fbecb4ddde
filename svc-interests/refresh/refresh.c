#include "refresh/refresh.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "loop/fiber.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
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

/* Candidates that are read at first, besides those of which too little is known without. */
#define CANDIDATES_FIRST 32

/* The scores are stored again when more candidates than this had none: they are written as a whole,
 * 7 KB of WAL, and a night brings few. */
#define UNSTORED_MAX 16

METRIC_COUNTER(candidates_counter, "expops_refresh_candidates_total",
               "Candidates of refreshes, by whether their papers were read (read), or what the "
               "search and stored preference scores say of them was enough (unread).",
               "papers");

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
	struct buf scores;        /* of the candidates, to be stored; `data` NULL: not to be */
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

/* The ids of the papers that were recommended: those that the search knew, or as read since. */
static yyjson_val *recommended_of(struct request *rq, const struct interest_refresh *refresh,
                                  const struct pg_rows *rows)
{
	const char *ids = pg_get(rows, 0, "recommended");
	if (!ids)
		ids = refresh->search->left_out;
	return ids ? json_parse_own(rq->arena, ids) : NULL;
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
		.recommended = recommended_of(rq, refresh, rows),
		.examples = examples ? json_parse_own(rq->arena, examples) : NULL,
		.search = refresh->search,
	};
}

/* The base score of a candidate, unless the interest refuses what it is about, which its text says.
 * Infinite where it cannot be known without its paper. */
static double base_score_at_most(const struct candidate_row *row, double trust, int64_t now_ms)
{
	struct candidate candidate = {
		.retrieval = row->relevance,
		.preference = row->preference,
		.age_days = paper_age_days(row->published_before_ms, now_ms),
		.has_container = row->has_container,
	};
	struct score_options options = {.half_life_days = half_life_days,
	                                .preference_trust = trust};
	bool is_known = row->is_described && !isnan(row->preference);
	return is_known ? base_score(&candidate, &options) : INFINITY;
}

static int best_first(const void *a, const void *b)
{
	const struct candidate_row *left = a, *right = b;
	double x = left->base_score_at_most, y = right->base_score_at_most;
	return (x < y) - (x > y);
}

/* The candidates, best base score first. Without a model no preference counts. */
static struct candidate_row *ranked_rows(struct request *rq, const struct work_item *work,
                                         const struct candidate_source *source,
                                         const struct stored_scores *stored, size_t *ret_count)
{
	struct candidate_row *rows = candidates_find(rq, source, ret_count);
	int64_t now_ms = time_now_ms();
	for (size_t i = 0; i < *ret_count; i++) {
		struct candidate_row *row = &rows[i];
		row->preference = work->input.interest.model
		                          ? stored_scores_find(stored, row->key.arxiv_id,
		                                               row->key.version, row->has_vector)
		                          : 0;
		row->base_score_at_most = base_score_at_most(row, stored->trust, now_ms);
	}
	if (*ret_count > 0)
		qsort(rows, *ret_count, sizeof(*rows), best_first);
	return rows;
}

/* Have the scores of the papers that were read stored, with those of the others, if those of many
 * are not. Without the search it is not known which are. */
static void renew_scores(struct work_item *work, const struct candidate_row *rows, size_t count,
                         size_t read)
{
	struct stored_scores scores = recommendations_scores(work->selected);
	size_t unstored = 0;
	for (size_t i = 0; i < count; i++)
		unstored += rows[i].is_described && isnan(rows[i].preference);
	if (unstored <= UNSTORED_MAX || scores.count == 0)
		return;
	scores.all = arena_grow(work->arena, scores.all, scores.count * sizeof(*scores.all),
	                        (scores.count + count - read) * sizeof(*scores.all));
	for (size_t i = read; i < count; i++)
		scores.all[scores.count++] = (struct stored_score){
			.arxiv_id = rows[i].key.arxiv_id,
			.version = rows[i].key.version,
			.has_vector = rows[i].has_vector,
			.score = rows[i].preference,
		};
	work->scores = stored_scores_write(work->arena, &scores);
}

/* Select among the best candidates, as many as it takes. Those of which too little is known
 * without their papers come first, and are all read. */
static void select_papers_of(struct request *rq, struct work_item *work,
                             const struct candidate_source *source,
                             const struct stored_scores *stored)
{
	size_t count, read = 0;
	struct candidate_row *rows = ranked_rows(rq, work, source, stored, &count);
	work->input.recommended = candidates_recommended(rq, source);
	work->input.examples = candidates_examples(rq, source);
	while (read < count && isinf(rows[read].base_score_at_most))
		read++;
	for (read += CANDIDATES_FIRST;; read *= 2) {
		read = MIN_OF(read, count);
		work->input.pool = candidates_load(rq, source, rows, read);
		work->input.unread = candidates_unread(rq, rows + read, count - read);
		fiber_offload(rq, LANE_LONG, select_on_thread, work);
		if (work->selected)
			break;
	}
	metric_add(&candidates_counter, "read", NULL, read);
	metric_add(&candidates_counter, "unread", NULL, count - read);
	renew_scores(work, rows, count, read);
}

static struct stored_scores stored_scores_of(struct request *rq, const struct pg_rows *rows)
{
	size_t length = 0;
	const void *data = pg_get_bytes(rq->arena, rows, 0, "scores", &length);
	return stored_scores_read(rq->arena, data, length);
}

/* Select papers, and write the recommendations and scores that are to be stored. */
static struct work_item *recommend(struct request *rq, struct interest_refresh *refresh,
                                   const struct pg_rows *rows)
{
	struct work_item *work = arena_new_of(rq->arena, struct work_item);
	work->arena = offload_arena(rq);
	work->input = input_of(rq, rows, refresh->limit);
	struct candidate_source source = source_of(rq, refresh, rows, &work->input);
	struct stored_scores stored = stored_scores_of(rq, rows);
	select_papers_of(rq, work, &source, &stored);
	if (work->ids && refresh->search)
		work->explanations = pool_explain(rq, refresh->search, work->ids);
	fiber_offload(rq, LANE_LONG, explain_on_thread, work);
	return work;
}

/* Store the recommendations and scores, unless the interest was changed, refreshed or deleted since
 * it was `loaded`. The transaction locks the interest before the task, as every statement that
 * locks both. */
static void store(struct request *rq, struct interest_refresh *refresh,
                  const struct pg_rows *loaded, const struct work_item *work)
{
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, REFRESH_SAVE_SQL, pg_text(refresh->interest),
	                                pg_int(pg_get_int(loaded, 0, "pool_version")),
	                                pg_text(work->json), pg_text(refresh->task->id),
	                                pg_text(pg_get(loaded, 0, "last_recommendation_at")),
	                                pg_text(refresh->is_daily ? "on" : "off"));
	refresh->is_changed = !pg_empty(rows) && !pg_get_bool(rows, 0, "is_unchanged");
	if (work->scores.data && !pg_empty(rows) && !refresh->is_changed)
		pg_query(rq, REFRESH_SAVE_SCORES_SQL, pg_text(refresh->interest),
		         pg_int(work->input.model_version), pg_text(work->input.embedder),
		         pg_int(PREFERENCE_SCORING),
		         pg_bytes(work->scores.data, work->scores.length));
	task_progress(rq, refresh->task, refresh->percent, NULL);
	pg_commit(rq);
}

static struct pg_rows *load(struct request *rq, const struct interest_refresh *refresh)
{
	const struct pool_search *search = refresh->search;
	return pg_query(rq, REFRESH_LOAD_SQL, pg_text(refresh->interest),
	                pg_int(PREFERENCE_SCORING), pg_int(search ? search->context_version : 0),
	                pg_text(search ? search->recommended_at : NULL));
}

/* Whether the interest was changed since its candidates were searched. */
static bool is_other_pool(const struct interest_refresh *refresh, const struct pg_rows *rows)
{
	return refresh->search && !pg_empty(rows) &&
	       pg_get_int(rows, 0, "pool_version") != refresh->search->version;
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
	if (renewal != POOL_RENEWED && renewal != POOL_KEPT)
		return;
	struct pg_rows *rows = load(rq, refresh);
	if (!pg_empty(rows) && pg_get_bool(rows, 0, "is_behind")) {
		refit_follow(rq, refresh->interest);
		rows = load(rq, refresh);
	}
	refresh->is_changed = is_other_pool(refresh, rows);
	if (!pg_empty(rows) && !refresh->is_changed)
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
		raise_problem(rq, &failure);
	complete(rq, task);
}
