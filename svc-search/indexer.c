#include "indexer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asset.sql.h"
#include "log.h"
#include "metrics.h"
#include "offload.h"
#include "pg.h"
#include "request.h"
#include "timefmt.h"
#include "uuid.h"

#define STARTING_MS      20
#define SWEEP_MS         1000
#define BATCH_PAPERS     1000
#define PASS_TIMEOUT_MS  60000
#define MERGE_TIMEOUT_MS 3600000
#define LOAD_FROM_PAPERS 4000 /* a cold start with more is loaded in one go */

struct indexer {
	struct engine *engine;
	uv_mutex_t writing; /* held by the pool's thread that changes the engine: one at a time */
	struct indexer_settings settings;
	struct worker *worker; /* NULL: not started, or stopping */
	uv_timer_t sweep;
	char source[UUID_TEXT_LEN + 1]; /* id of the database; "": not known yet */
	uint64_t seq;                   /* last change taken in */
	bool is_reading, is_merging, is_wanted;
	_Atomic bool is_caught_up;
	_Atomic int64_t updated_at_ms;
};

static struct metric documents_gauge =
	METRIC_GAUGE("expops_index_documents", "Papers that this replica finds.");
static struct metric bytes_gauge =
	METRIC_GAUGE("expops_index_bytes", "Memory of the index of this replica.");

static void start_reading(struct indexer *indexer);

static struct indexer *indexer_of(struct process *process)
{
	return process->user;
}

static const char *snapshot_path(struct request *rq, const struct indexer *indexer)
{
	if (!indexer->settings.data_dir[0])
		return NULL;
	return arena_printf(rq->arena, "%s/index-%s.snapshot", indexer->settings.data_dir,
	                    indexer->source);
}

/* --- Rows into documents ------------------------------------------------------------------------------- */

/* `text` is "cs.LG stat.ML"; cut apart in the arena. */
static const char *const *split_words(struct arena *arena, const char *text, size_t *ret_count)
{
	char *rest = arena_strdup(arena, text);
	const char **words = arena_array(arena, strlen(text) / 2 + 1, sizeof(*words));
	size_t count = 0;
	for (char *word; (word = strsep(&rest, " "));)
		if (*word)
			words[count++] = word;
	*ret_count = count;
	return words;
}

/* A row of ASSET_CHANGES_SQL. */
static struct engine_change change_of(struct request *rq, const struct pg_rows *rows, int row)
{
	struct engine_change change = {
		.document =
			{
				.seq = (uint64_t)pg_value_int(rows, row, 0),
				.id = pg_value(rows, row, 1),
				.title = pg_value(rows, row, 2),
				.abstract = pg_value(rows, row, 3),
				.published = (int32_t)pg_value_int(rows, row, 5),
				.has_container = pg_value_bool(rows, row, 6),
			},
		.is_deleted = pg_value_bool(rows, row, 7),
	};
	change.document.categories =
		split_words(rq->arena, pg_value(rows, row, 4), &change.document.category_count);
	return change;
}

/* --- Work for the pool ----------------------------------------------------------------------------------- */

/* One piece of work; which members it uses is its own matter. */
struct work {
	struct indexer *indexer;
	struct engine_change *changes;
	size_t count;
	struct engine_merge *merge;
	const char *path;
	bool is_done;
};

static struct work *work_new(struct request *rq, struct indexer *indexer)
{
	struct work *work = arena_new_of(rq->arena, struct work);
	work->indexer = indexer;
	return work;
}

static void apply(void *arg)
{
	struct work *work = arg;
	uv_mutex_lock(&work->indexer->writing);
	engine_apply(work->indexer->engine, work->changes, work->count);
	uv_mutex_unlock(&work->indexer->writing);
}

static void restore(void *arg)
{
	struct work *work = arg;
	uv_mutex_lock(&work->indexer->writing);
	work->is_done = engine_restore(work->indexer->engine, work->path);
	uv_mutex_unlock(&work->indexer->writing);
}

/* Run a merge, made here unless it was filled already, and publish it. */
static void merge(void *arg)
{
	struct work *work = arg;
	struct indexer *indexer = work->indexer;
	if (!work->merge) {
		uv_mutex_lock(&indexer->writing);
		work->merge = engine_merge_new(indexer->engine);
		uv_mutex_unlock(&indexer->writing);
	}
	engine_merge_run(work->merge);
	uv_mutex_lock(&indexer->writing);
	engine_merge_commit(indexer->engine, work->merge);
	uv_mutex_unlock(&indexer->writing);
}

static void save(void *arg)
{
	struct work *work = arg;
	struct engine_view *view = engine_view_get(work->indexer->engine);
	work->is_done = engine_save(view, work->path);
	engine_view_put(view);
}

/* --- Merging --------------------------------------------------------------------------------------------- */

static void save_index(struct request *rq, struct indexer *indexer)
{
	struct work *work = work_new(rq, indexer);
	work->path = snapshot_path(rq, indexer);
	if (!work->path)
		return;
	request_offload(rq, save, work);
	if (!work->is_done)
		log_warn(LOG_GROUP_APP, "the index was not saved", f_text("path", work->path));
}

/* `filled` has all its input; NULL: merge what is there now. */
static void merge_and_save(struct request *rq, struct indexer *indexer, struct engine_merge *filled)
{
	uint64_t started_us = time_monotonic_us();
	struct work *work = work_new(rq, indexer);
	work->merge = filled;
	request_offload(rq, merge, work);
	log_info(LOG_GROUP_APP, "index merged",
	         f_int("documents", indexer_state(rq->worker->process).documents),
	         f_float("seconds", (double)(time_monotonic_us() - started_us) / 1e6));
	save_index(rq, indexer);
}

static void merge_main(struct request *rq)
{
	merge_and_save(rq, rq->user, NULL);
}

static void merge_over(struct request *rq)
{
	struct indexer *indexer = rq->user;
	indexer->is_merging = false;
}

static void start_merge_if_it_pays(struct indexer *indexer)
{
	if (indexer->is_merging || !indexer->worker || !engine_wants_merge(indexer->engine))
		return;
	indexer->is_merging = true;
	request_spawn(indexer->worker, "index-merge", MERGE_TIMEOUT_MS, merge_main, merge_over,
	              indexer);
}

/* --- Reading ------------------------------------------------------------------------------------------------ */

static void note_progress(struct indexer *indexer)
{
	struct engine_view *view = engine_view_get(indexer->engine);
	metric_set(&documents_gauge, NULL, NULL, engine_view_count(view));
	metric_set(&bytes_gauge, NULL, NULL, (double)engine_view_bytes(view));
	engine_view_put(view);
	indexer->updated_at_ms = time_now_ms();
}

/* Take in one batch of changes. Returns whether there may be more. */
static bool read_batch(struct request *rq, struct indexer *indexer)
{
	struct pg_rows *rows = pg_query(rq, ASSET_CHANGES_SQL, pg_int((int64_t)indexer->seq),
	                                pg_int(BATCH_PAPERS));
	if (pg_empty(rows))
		return false;
	struct work *work = work_new(rq, indexer);
	work->count = (size_t)rows->count;
	work->changes = arena_array(rq->arena, work->count, sizeof(*work->changes));
	for (int row = 0; row < rows->count; row++)
		work->changes[row] = change_of(rq, rows, row);
	request_offload(rq, apply, work);
	indexer->seq = work->changes[work->count - 1].document.seq;
	note_progress(indexer);
	return rows->count == BATCH_PAPERS;
}

/* Whose database this is, and what the disk has of it. */
static uint64_t open_source(struct request *rq, struct indexer *indexer)
{
	struct pg_rows *rows = pg_query(rq, INDEX_SOURCE_GET_SQL);
	snprintf(indexer->source, sizeof(indexer->source), "%s", pg_value(rows, 0, 0));
	uint64_t newest = (uint64_t)pg_value_int(rows, 0, 1);
	struct work *work = work_new(rq, indexer);
	work->path = snapshot_path(rq, indexer);
	if (!work->path)
		return newest;
	request_offload(rq, restore, work);
	if (work->is_done) {
		struct engine_view *view = engine_view_get(indexer->engine);
		indexer->seq = engine_view_seq(view);
		engine_view_put(view);
		note_progress(indexer);
		log_info(LOG_GROUP_APP, "index restored", f_text("path", work->path));
	}
	return newest;
}

/* A load that is given up when its fiber ends early. */
struct load {
	struct engine *engine;
	struct engine_merge *merge;
};

static void load_cancel(void *ptr)
{
	struct load *load = ptr;
	if (load->merge)
		engine_merge_cancel(load->engine, load->merge);
}

/* Read every paper up to `newest` into one new index. Pages live in arenas of their own. */
static void load_all(struct request *rq, struct indexer *indexer, uint64_t newest)
{
	struct load *load = arena_new_of(rq->arena, struct load);
	load->engine = indexer->engine;
	load->merge = engine_load_new(indexer->engine, newest);
	arena_on_free(rq->arena, load_cancel, load);
	struct arena *whole = rq->arena;
	uint64_t seq = 0;
	while (seq < newest) {
		rq->arena = arena_new();
		struct pg_rows *rows = NULL;
		enum err_code code = pg_try(rq, &rows, NULL, ASSET_CHANGES_SQL,
		                            pg_int((int64_t)seq), pg_int(BATCH_PAPERS));
		for (int row = 0; !code && row < rows->count; row++) {
			struct engine_change change = change_of(rq, rows, row);
			seq = change.document.seq;
			if (!change.is_deleted && seq <= newest)
				engine_merge_add(load->merge, &change.document);
		}
		bool is_over = code || pg_empty(rows);
		arena_free(rq->arena);
		rq->arena = whole;
		if (code)
			raise_error(rq, code, "the papers could not be read");
		if (is_over)
			break;
	}
	struct engine_merge *filled = load->merge;
	load->merge = NULL;
	merge_and_save(rq, indexer, filled);
	indexer->seq = newest;
	note_progress(indexer);
}

static void read_main(struct request *rq)
{
	struct indexer *indexer = rq->user;
	if (!indexer->source[0]) {
		uint64_t newest = open_source(rq, indexer);
		if (indexer->seq == 0 && newest >= LOAD_FROM_PAPERS)
			load_all(rq, indexer, newest);
	}
	if (read_batch(rq, indexer))
		indexer->is_wanted = true;
	else
		indexer->is_caught_up = true;
}

static void read_over(struct request *rq)
{
	struct indexer *indexer = rq->user;
	indexer->is_reading = false;
	if (rq->problem.code)
		log_warn(LOG_GROUP_APP, "changes could not be read",
		         f_text("reason", rq->problem.detail));
	start_merge_if_it_pays(indexer);
	if (indexer->is_wanted && !rq->problem.code)
		start_reading(indexer);
}

static void start_reading(struct indexer *indexer)
{
	if (!indexer->worker || !indexer->worker->process->is_migrated)
		return;
	indexer->is_wanted = indexer->is_reading;
	if (indexer->is_reading)
		return;
	indexer->is_reading = true;
	uint64_t timeout_ms = indexer->source[0] ? PASS_TIMEOUT_MS : MERGE_TIMEOUT_MS;
	request_spawn(indexer->worker, "index-read", timeout_ms, read_main, read_over, indexer);
}

/* Eager until the index has all that was there at the start. */
static void on_sweep(uv_timer_t *timer)
{
	struct indexer *indexer = timer->data;
	uv_timer_set_repeat(timer, indexer->is_caught_up ? SWEEP_MS : STARTING_MS);
	start_reading(indexer);
}

static void on_notify(void *context, const char *payload)
{
	(void)payload;
	start_reading(context);
}

/* --- Life --------------------------------------------------------------------------------------------------- */

void indexer_make(struct process *process, const struct indexer_settings *settings)
{
	struct indexer *indexer = calloc(1, sizeof(*indexer));
	require(indexer);
	indexer->engine = engine_new();
	indexer->settings = *settings;
	require(uv_mutex_init(&indexer->writing) == 0);
	metric_register(&documents_gauge);
	metric_register(&bytes_gauge);
	process->user = indexer;
}

void indexer_start(struct worker *worker)
{
	struct indexer *indexer = indexer_of(worker->process);
	indexer->worker = worker;
	uv_timer_init(&worker->loop, &indexer->sweep);
	indexer->sweep.data = indexer;
	uv_timer_start(&indexer->sweep, on_sweep, STARTING_MS, STARTING_MS);
	pg_listen(worker->pg, "asset_changed", on_notify, indexer);
}

void indexer_stop(struct worker *worker)
{
	struct indexer *indexer = indexer_of(worker->process);
	indexer->worker = NULL;
	uv_close((uv_handle_t *)&indexer->sweep, NULL);
}

void indexer_free(struct process *process)
{
	struct indexer *indexer = indexer_of(process);
	engine_free(indexer->engine);
	uv_mutex_destroy(&indexer->writing);
	free(indexer);
	process->user = NULL;
}

struct engine_view *indexer_view(struct process *process)
{
	return engine_view_get(indexer_of(process)->engine);
}

struct index_state indexer_state(struct process *process)
{
	struct indexer *indexer = indexer_of(process);
	struct engine_view *view = engine_view_get(indexer->engine);
	struct index_state state = {
		.documents = engine_view_count(view),
		.updated_at_ms = indexer->updated_at_ms,
		.is_caught_up = indexer->is_caught_up,
	};
	engine_view_put(view);
	return state;
}

const char *indexer_model(struct arena *arena, struct process *process,
                          const struct engine_view *view)
{
	return arena_printf(arena, "%.8s-%u-%08x", indexer_of(process)->source,
	                    engine_dimension(view), engine_model(view));
}
