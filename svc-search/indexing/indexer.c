#include "indexing/indexer.h"

#include "base/log.h"
#include "base/metrics.h"
#include "base/timefmt.h"
#include "base/uuid.h"
#include "index.sql.h"
#include "indexing/index_files.h"
#include "indexing/index_work.h"
#include "loop/request.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "service/process.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *data_dir; /* of this replica alone; "": the index is not kept on disk */

const struct setting INDEXER_SETTINGS[] = {
	SETTING_TEXT(&data_dir, "DATA_DIR", "",
                     "Folder of this replica alone where the index is kept between starts; empty: "
                     "built anew each time."),
	SETTING_END,
};

#define STARTING_MS      20
#define SWEEP_MS         1000
#define PASS_TIMEOUT_MS  60000
#define MERGE_TIMEOUT_MS 3600000

#define PAGE_PAPERS 1000 /* read at once while all are loaded */

/* Changes of one pass; more when more are unmerged, for each pass costs as much as all of them. */
#define BATCH_PAPERS 4000

/* An import is taken in a second's worth at a time; and what comes in is merged when it ends, or
 * when there is this much, which is also the most that is read at once (VECTOR_CHANGES_SQL). During
 * a merge as much again is taken in, and the rest waits for its end. */
#define BUSY_PAPERS  1000
#define MERGE_PAPERS 16000

/* An index that lacks more papers than this, and than it has, is made anew. Nobody finds what it
 * lacks for as long as that takes: one that is searched already has to lack so many times more. */
#define LOAD_PAPERS    4000
#define SERVING_FACTOR 16

struct indexer {
	struct index_writer writer;
	const char *space;     /* of an outside embedder's vectors; NULL: built in */
	struct worker *worker; /* NULL: not started, or stopping */
	uv_timer_t sweep;
	char source[UUID_TEXT_LEN + 1]; /* id of the database; "": not known yet */
	uint64_t seq;                   /* last change taken in, or that the load will have */
	size_t unmerged;                /* changes taken in since a merge began */
	bool is_reading, is_merging;    /* a load is a merge too */
	bool is_loading;
	struct engine_merge *load; /* gathers its papers; NULL: none, or it has them all */
	uint64_t load_until;       /* the last change that it is to have */
	uint64_t load_since;       /* where `seq` stood before it */
	bool has_gap;              /* a load failed: what follows load_since is to be read again */
	bool is_wanted;            /* read again when this pass is over */
	bool is_busy;    /* the last pass took in so much that the next may wait for the sweep */
	bool is_failing; /* the last pass did not reach Postgres */
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

/* Nothing new is begun when the process is to end. */
static bool is_ending(const struct indexer *indexer)
{
	return !indexer->worker || indexer->worker->process->is_draining;
}

/* NULL: the index is not kept. */
static const char *snapshot_path(struct request *rq, const struct indexer *indexer)
{
	const char *dir = data_dir;
	return dir[0] ? index_files_path(rq->arena, dir, indexer->source) : NULL;
}

/* --- Rows into documents ---------------------------------------------------------------------- */

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

/* The column that VECTOR_CHANGES_SQL adds to those of ASSET_CHANGES_SQL. */
#define CHANGE_VECTOR 8

/* A row of either. */
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
	if (rows->columns > CHANGE_VECTOR) {
		size_t dimension = 0;
		change.document.vector =
			pg_value_bytes(rq->arena, rows, row, CHANGE_VECTOR, &dimension);
		change.document.dimension = (uint32_t)dimension;
	}
	return change;
}

static struct index_work *work_new(struct request *rq, struct indexer *indexer)
{
	struct index_work *work = arena_new_of(rq->arena, struct index_work);
	work->writer = &indexer->writer;
	return work;
}

/* What has changed since `seq`, at most `limit` papers, as work. */
static struct index_work *read_changes(struct request *rq, struct indexer *indexer, uint64_t seq,
                                       int64_t limit)
{
	const char *space = indexer->space;
	struct pg_rows *rows =
		space ? pg_query(rq, VECTOR_CHANGES_SQL, pg_int((int64_t)seq), pg_int(limit),
	                         pg_text(space))
		      : pg_query(rq, ASSET_CHANGES_SQL, pg_int((int64_t)seq), pg_int(limit));
	struct index_work *work = work_new(rq, indexer);
	work->count = (size_t)rows->count;
	work->changes = arena_array(rq->arena, work->count, sizeof(*work->changes));
	for (int row = 0; row < rows->count; row++)
		work->changes[row] = change_of(rq, rows, row);
	return work;
}

/* --- Merging ---------------------------------------------------------------------------------- */

static void show_size(struct indexer *indexer)
{
	struct engine_view *view = engine_view_get(indexer->writer.engine);
	metric_set(&documents_gauge, NULL, NULL, engine_view_count(view));
	metric_set(&bytes_gauge, NULL, NULL, (double)engine_view_bytes(view));
	engine_view_put(view);
}

static void save_index(struct request *rq, struct indexer *indexer)
{
	struct index_work *work = work_new(rq, indexer);
	work->path = snapshot_path(rq, indexer);
	if (!work->path)
		return;
	fiber_offload(rq, index_work_save, work);
	if (!work->is_done)
		log_warn(LOG_GROUP_APP, "the index was not saved", f_text("path", work->path));
}

/* `filled` has all its input; NULL: merge what is there now. */
static void merge_and_save(struct request *rq, struct indexer *indexer, struct engine_merge *filled)
{
	uint64_t started_us = time_monotonic_us();
	struct index_work *work = work_new(rq, indexer);
	work->merge = filled;
	fiber_offload(rq, index_work_merge, work);
	if (!work->is_done)
		raise_error(rq, ERR_UNAVAILABLE, "given up, for the process is to end");
	show_size(indexer);
	log_info(LOG_GROUP_APP, "index merged",
	         f_int("documents", indexer_state(rq->worker->process).documents),
	         f_float("seconds", (double)(time_monotonic_us() - started_us) / 1e6));
	save_index(rq, indexer);
}

static void merge_main(struct request *rq)
{
	merge_and_save(rq, rq->user, NULL);
}

/* What waited for the merge's end is read now. */
static void merge_over(struct request *rq)
{
	struct indexer *indexer = rq->user;
	indexer->is_merging = false;
	start_reading(indexer);
}

/* While nothing reads and nothing merges, so that nobody changes the engine meanwhile. */
static void start_merge_if_it_pays(struct indexer *indexer)
{
	if (indexer->is_merging || is_ending(indexer) ||
	    !engine_wants_merge(indexer->writer.engine))
		return;
	if (indexer->is_busy && indexer->unmerged < MERGE_PAPERS)
		return;
	indexer->is_merging = true;
	indexer->unmerged = 0;
	request_spawn(indexer->worker, "index-merge", MERGE_TIMEOUT_MS, merge_main, merge_over,
	              indexer);
}

/* --- Loading ---------------------------------------------------------------------------------- */

/* Add a page of papers that have changed since `seq` to the load. Returns the number of the last
 * one, 0 when there was none. */
static uint64_t load_page(struct request *rq, struct indexer *indexer, uint64_t seq)
{
	struct index_work *work = read_changes(rq, indexer, seq, PAGE_PAPERS);
	work->merge = indexer->load;
	fiber_offload(rq, index_work_add, work);
	return work->count ? work->changes[work->count - 1].document.seq : 0;
}

static void load_main(struct request *rq)
{
	struct indexer *indexer = rq->user;
	for (uint64_t seq = 0, last = 1; last && seq < indexer->load_until; seq = last) {
		if (is_ending(indexer))
			raise_error(rq, ERR_UNAVAILABLE, "given up, for the process is to end");
		request_page_begin(rq);
		last = load_page(rq, indexer, seq);
		request_page_end(rq);
	}
	struct engine_merge *filled = indexer->load;
	indexer->load = NULL;
	merge_and_save(rq, indexer, filled);
	indexer->updated_at_ms = time_now_ms();
}

static void load_over(struct request *rq)
{
	struct indexer *indexer = rq->user;
	if (indexer->load) {
		uv_mutex_lock(&indexer->writer.lock);
		engine_merge_cancel(indexer->writer.engine, indexer->load);
		uv_mutex_unlock(&indexer->writer.lock);
		indexer->load = NULL;
	}
	indexer->is_loading = false;
	indexer->has_gap = rq->problem.code != ERR_NONE;
	if (indexer->has_gap && !is_ending(indexer))
		log_warn(LOG_GROUP_APP, "the index could not be made anew",
		         f_text("reason", rq->problem.detail));
	merge_over(rq);
}

/* Make the index anew from every paper up to change `newest`. The old one goes on taking in what
 * changes after that, so that a small change need not wait. Only the fiber that reads changes
 * begins a load: nobody else changes the engine meanwhile. */
static void start_load(struct indexer *indexer, uint64_t newest)
{
	indexer->is_merging = indexer->is_loading = true;
	indexer->unmerged = 0;
	indexer->load = engine_load_new(indexer->writer.engine, newest);
	indexer->load_until = newest;
	if (!indexer->has_gap) /* of the load before, which ended while this pass was under way */
		indexer->load_since = indexer->seq;
	indexer->has_gap = false;
	indexer->seq = newest;
	request_spawn(indexer->worker, "index-load", MERGE_TIMEOUT_MS, load_main, load_over,
	              indexer);
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Take in one batch of changes. Returns whether there may be more. */
static bool read_batch(struct request *rq, struct indexer *indexer)
{
	size_t limit =
		MIN_OF(MAX_OF(indexer->unmerged, (size_t)BATCH_PAPERS), (size_t)MERGE_PAPERS);
	struct index_work *work = read_changes(rq, indexer, indexer->seq, (int64_t)limit);
	indexer->is_busy = work->count >= BUSY_PAPERS;
	if (work->count == 0)
		return false;
	fiber_offload(rq, index_work_apply, work);
	indexer->seq = work->changes[work->count - 1].document.seq;
	indexer->unmerged += work->count;
	indexer->updated_at_ms = time_now_ms();
	show_size(indexer);
	return work->count == limit;
}

/* Take what the disk has of this database. */
static void restore_index(struct request *rq, struct indexer *indexer)
{
	struct index_work *work = work_new(rq, indexer);
	work->path = snapshot_path(rq, indexer);
	if (!work->path)
		return;
	fiber_offload(rq, index_work_restore, work);
	if (!work->is_done)
		return;
	struct engine_view *view = engine_view_get(indexer->writer.engine);
	indexer->seq = engine_view_seq(view);
	engine_view_put(view);
	indexer->updated_at_ms = time_now_ms();
	show_size(indexer);
	log_info(LOG_GROUP_APP, "index restored", f_text("path", work->path),
	         f_int("documents", indexer_state(rq->worker->process).documents));
}

/* The database is another one, or an older state of this one: what the index has taken in is not to
 * be trusted, and numbers that it has seen come again. The process starts anew, without its
 * snapshot. */
attr_noreturn static void start_anew(struct request *rq, struct indexer *indexer)
{
	const char *path = snapshot_path(rq, indexer);
	if (path)
		unlink(path);
	log_error(LOG_GROUP_APP,
	          "the database was replaced or set back: ending, to be started again",
	          f_int("index_change", (int64_t)indexer->seq));
	kill(getpid(), SIGTERM);
	raise_error(rq, ERR_UNAVAILABLE, "the database was replaced or set back");
}

/* Number of the newest change; makes sure that this is the database of the index. */
static uint64_t newest_change(struct request *rq, struct indexer *indexer)
{
	struct pg_rows *rows = pg_query(rq, ASSET_NEWEST_SQL, pg_text(indexer->space));
	const char *source = pg_value(rows, 0, 0);
	uint64_t newest = (uint64_t)pg_value_int(rows, 0, 1);
	if (!indexer->source[0]) {
		snprintf(indexer->source, sizeof(indexer->source), "%s", source);
		restore_index(rq, indexer);
	}
	if (strcmp(source, indexer->source) != 0 || newest < indexer->seq)
		start_anew(rq, indexer);
	return newest;
}

/* Whether so much is new that a new index costs less than taking it in. */
static bool is_far_behind(struct request *rq, const struct indexer *indexer, uint64_t newest)
{
	int64_t least = indexer->is_caught_up ? LOAD_PAPERS * SERVING_FACTOR : LOAD_PAPERS;
	int64_t enough = MAX_OF(indexer_state(rq->worker->process).documents, least) + 1;
	if (indexer->is_merging || newest - indexer->seq < (uint64_t)enough)
		return false;
	struct pg_rows *rows = pg_query(rq, ASSET_BEHIND_SQL, pg_int((int64_t)indexer->seq),
	                                pg_int(enough), pg_text(indexer->space));
	return pg_value_int(rows, 0, 0) == enough;
}

static void read_main(struct request *rq)
{
	struct indexer *indexer = rq->user;
	if (indexer->has_gap)
		indexer->seq = indexer->load_since;
	indexer->has_gap = false;
	uint64_t newest = newest_change(rq, indexer);
	if (is_far_behind(rq, indexer, newest))
		start_load(indexer, newest);
	if (indexer->is_merging && indexer->unmerged >= MERGE_PAPERS)
		return;
	if (read_batch(rq, indexer))
		indexer->is_wanted = true;
	else if (!indexer->is_loading && !indexer->has_gap)
		indexer->is_caught_up = true;
}

static void read_over(struct request *rq)
{
	struct indexer *indexer = rq->user;
	bool has_failed = rq->problem.code != ERR_NONE;
	indexer->is_reading = false;
	if (has_failed && !indexer->is_failing && !is_ending(indexer))
		log_warn(LOG_GROUP_APP, "changes cannot be read",
		         f_text("reason", rq->problem.detail));
	if (!has_failed && indexer->is_failing)
		log_info(LOG_GROUP_APP, "changes are read again");
	indexer->is_failing = has_failed;
	start_merge_if_it_pays(indexer);
	if (indexer->is_wanted && !has_failed)
		start_reading(indexer);
}

static void start_reading(struct indexer *indexer)
{
	if (is_ending(indexer) || !indexer->worker->process->is_migrated)
		return;
	indexer->is_wanted = indexer->is_reading;
	if (indexer->is_reading)
		return;
	indexer->is_reading = true;
	request_spawn(indexer->worker, "index-read", PASS_TIMEOUT_MS, read_main, read_over,
	              indexer);
}

/* Eager until the index has all that was there at the start, or a load is to get it. */
static void on_sweep(uv_timer_t *timer)
{
	struct indexer *indexer = timer->data;
	bool is_eager = !indexer->is_caught_up && !indexer->is_loading;
	uv_timer_set_repeat(timer, is_eager ? STARTING_MS : SWEEP_MS);
	start_reading(indexer);
}

/* In the middle of an import the sweep is soon enough. */
static void on_notify(void *context, const char *payload)
{
	struct indexer *indexer = context;
	(void)payload;
	if (!indexer->is_busy)
		start_reading(indexer);
}

/* --- Life ------------------------------------------------------------------------------------- */

void indexer_make(struct process *process, const char *space)
{
	struct indexer *indexer = calloc(1, sizeof(*indexer));
	require(indexer);
	indexer->writer.engine = engine_new(space);
	indexer->writer.stop = &process->is_draining;
	indexer->space = space;
	require(uv_mutex_init(&indexer->writer.lock) == 0);
	char why[128];
	int fault = data_dir[0] ? index_files_prepare(data_dir) : 0;
	if (fault)
		log_warn(LOG_GROUP_APP, "the index cannot be kept in DATA_DIR",
		         f_text("path", data_dir),
		         f_text("reason", strerror_r(fault, why, sizeof(why))));
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
	engine_free(indexer->writer.engine);
	uv_mutex_destroy(&indexer->writer.lock);
	free(indexer);
	process->user = NULL;
}

struct engine_view *indexer_view(struct process *process)
{
	return engine_view_get(indexer_of(process)->writer.engine);
}

struct index_state indexer_state(struct process *process)
{
	struct indexer *indexer = indexer_of(process);
	struct engine_view *view = engine_view_get(indexer->writer.engine);
	struct index_state state = {
		.documents = engine_view_count(view),
		.updated_at_ms = indexer->updated_at_ms,
		.is_caught_up = indexer->is_caught_up,
	};
	engine_view_put(view);
	return state;
}

const char *indexer_model(struct arena *arena, const struct engine_view *view)
{
	return arena_printf(arena, "%u-%08x", engine_dimension(view), engine_model(view));
}
