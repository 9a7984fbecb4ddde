#include "refresh/refit.h"

#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "pool/background.h"
#include "pool/pool.h"
#include "preference/model_fitting.h"
#include "refit.sql.h"

#include <math.h>
#include <string.h>

#define EXAMPLES_MAX     5000 /* papers with signals that a model is fitted to */
#define INTEREST_DELETED "the interest was deleted"

/* Papers whose vectors are read: those with signals, and about as many as a pool and the background
 * have. */
#define PAPERS_MAX (EXAMPLES_MAX + 1500)

/* How often vectors are read again because svc-search named another version meanwhile. */
#define VERSION_TRIES 3

/* Interests that one pass queues, and vectors that it removes. */
#define QUEUED_MAX  100
#define REMOVED_MAX 20000

int64_t refit_check_ms;

const struct setting REFIT_SETTINGS[] = {
	SETTING_MS(
		&refit_check_ms, "EMBEDDER_CHECK", "1m", 50, 3600000,
		"Interval of looking for interests whose papers and models are to go over to a new "
		"version of the embedder."),
	SETTING_END,
};

/* --- Vectors ---------------------------------------------------------------------------------- */

static yyjson_val *parse_answer(struct request *rq, const char *answer)
{
	yyjson_val *root;
	if (json_parse(rq->arena, answer, strlen(answer), &root, NULL))
		raise_error(rq, ERR_UPSTREAM, "svc-search sent an invalid answer");
	return root;
}

/* The version in an answer of svc-search; NULL: it has no vectors. */
static const char *version_of(struct request *rq, yyjson_val *answer)
{
	const char *version = json_get_text(answer, "model");
	return version ? arena_strdup(rq->arena, version) : NULL;
}

static bool is_same(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Store the interest's papers that are not stored or have no vector of `version`. Returns the
 * version that svc-search named last: if it is another one, papers may be left. */
static const char *store_missing(struct request *rq, const char *interest, const char *version)
{
	struct pg_rows *batches = pg_query(rq, REFIT_MISSING_VECTORS_SQL, pg_text(interest),
	                                   pg_int(POOL_LOOKUP_ID_MAX), pg_int(PAPERS_MAX),
	                                   pg_int(POOL_LOOKUP_MAX), pg_text(version));
	const char *named = version;
	for (int i = 0; i < batches->count && is_same(named, version); i++) {
		const char *answer = pool_lookup(rq, pg_value(batches, i));
		pool_keep(rq, answer);
		named = version_of(rq, parse_answer(rq, answer));
	}
	return named;
}

/* Store vectors of one version for the background and all papers of the interest. Returns the
 * version. */
static const char *unify_vectors(struct request *rq, const char *interest)
{
	yyjson_val *state = parse_answer(rq, pool_lookup(rq, "[]"));
	const char *version = version_of(rq, state);
	background_follow(rq, json_get_int(state, "documents", 0));
	for (int i = 0; i < VERSION_TRIES; i++) {
		const char *named = store_missing(rq, interest, version);
		if (is_same(named, version))
			return version;
		version = named;
	}
	log_warn("replicas of svc-search name different embedders", f_text("interest", interest),
	         f_text("version", version ? version : ""));
	return version;
}

/* --- Fitting ---------------------------------------------------------------------------------- */

/* Model fitting on the thread pool: input, arena and result. */
struct fit_work_item {
	struct fitting_input input;
	struct arena *arena;
	struct fitting_result result;
};

/* What a refit stored. */
struct refit {
	bool is_deleted; /* the interest was */
	int64_t version; /* of the interest's model */
	const char *message;
	struct fitting_result result;
};

static void fit_on_thread(void *arg)
{
	struct fit_work_item *work = arg;
	work->result = fit_model(work->arena, &work->input);
}

static struct fitting_result fit(struct request *rq, const struct pg_rows *loaded)
{
	struct fit_work_item *work = arena_new_of(rq->arena, struct fit_work_item);
	work->arena = offload_arena(rq);
	work->input.interest.name = pg_get(loaded, 0, "name");
	work->input.interest.context = pg_get(loaded, 0, "context");
	work->input.examples_json = pg_get(loaded, 0, "examples");
	work->input.background_json = pg_get(loaded, 0, "background");
	work->input.interest.frequencies = pg_get_bytes(rq->arena, loaded, 0, "frequencies",
	                                                &work->input.interest.frequencies_length);
	fiber_offload(rq, LANE_LONG, fit_on_thread, work);
	return work->result;
}

/* What the model was fitted to, how good it is and what it learned, as members of an object. */
static const char *facts_json(struct request *rq, const struct fitting_result *result)
{
	return arena_printf(rq->arena,
	                    "\"examples\": %zu, \"positives\": %zu, \"auc\": %s, \"learned\": %s",
	                    result->examples, result->positives,
	                    isnan(result->auc) ? "null"
	                                       : arena_printf(rq->arena, "%.4f", result->auc),
	                    result->learned_json ? result->learned_json : "null");
}

/* Store the model, if one was fitted, and the version that the interest uses now. In a
 * transaction. */
static void save(struct request *rq, const char *interest, const char *embedder,
                 const struct pg_rows *loaded, struct refit *refit)
{
	const struct fitting_result *result = &refit->result;
	refit->version = pg_get_int(loaded, 0, "version");
	refit->message = result->message;
	if (result->model.data) {
		struct pg_rows *saved =
			pg_query(rq, REFIT_SAVE_SQL, pg_text(interest),
		                 pg_bytes(result->model.data, result->model.length),
		                 pg_text(pg_get(loaded, 0, "read_at")), pg_text(embedder),
		                 pg_text(arena_printf(rq->arena, "{%s}", facts_json(rq, result))));
		refit->is_deleted = pg_empty(saved);
		if (refit->is_deleted)
			return;
		refit->version = pg_get_int(saved, 0, "version");
		if (pg_get_bool(saved, 0, "is_new"))
			pg_query(rq, REFIT_SAVE_EVIDENCE_SQL, pg_text(interest),
			         pg_int(refit->version), pg_text(result->evidence_json));
		else
			refit->message = "a model fitted to newer feedback was kept";
	}
	pg_query(rq, REFIT_FOLLOW_SQL, pg_text(interest), pg_text(embedder));
}

/* Refit, up to the transaction that the caller commits. */
static void refit_begin(struct request *rq, const char *interest, struct refit *refit)
{
	const char *embedder = unify_vectors(rq, interest);
	struct pg_rows *loaded = pg_query(rq, REFIT_LOAD_SQL, pg_text(interest),
	                                  pg_int(EXAMPLES_MAX), pg_text(embedder));
	refit->is_deleted = pg_empty(loaded);
	if (!refit->is_deleted)
		refit->result = fit(rq, loaded);
	pg_begin(rq);
	if (!refit->is_deleted)
		save(rq, interest, embedder, loaded, refit);
}

static const char *result_json(struct request *rq, const struct refit *refit)
{
	return arena_printf(rq->arena, "{\"model_version\": %lld, %s}", (long long)refit->version,
	                    facts_json(rq, &refit->result));
}

static bool is_behind(struct request *rq, const char *interest, const char *column)
{
	struct pg_rows *rows = pg_query(rq, REFIT_IS_BEHIND_SQL, pg_text(interest));
	return !pg_empty(rows) && pg_get_bool(rows, 0, column);
}

void refit_run(struct request *rq, struct task *task)
{
	struct refit refit = {0};
	const char *interest = json_get_text(task->input, "interest_id");
	if (json_get_bool(task->input, "is_follow", false) &&
	    !is_behind(rq, interest, "behind_current")) {
		task_complete(rq, task, "{}", "the interest uses the current embedder already");
		return;
	}
	refit_begin(rq, interest, &refit);
	if (refit.is_deleted)
		task_complete(rq, task, "{}", INTEREST_DELETED);
	else
		task_complete(rq, task, result_json(rq, &refit), refit.message);
	pg_commit(rq);
}

void refit_follow(struct request *rq, const char *interest)
{
	struct refit refit = {0};
	if (!is_behind(rq, interest, "behind_pool"))
		return;
	refit_begin(rq, interest, &refit);
	pg_commit(rq);
}

void refit_others(struct request *rq)
{
	pg_query(rq, REFIT_QUEUE_SQL, pg_int(QUEUED_MAX));
	pg_query(rq, REFIT_REMOVE_VECTORS_SQL, pg_int(REMOVED_MAX));
}
