/* The indexer has two parts, a reader and a builder. Worker 0's loop drives both. Each part runs at
 * most one fiber at a time, and both may run at the same time.
 *
 * The reader applies new changes. A pass is one fiber (read_pass(), then read_done()) and applies one
 * batch.
 *
 *                 start_reading(): by the poll timer, by a
 *                 notification, or at the end of a build
 *     +------+ -----------------------------------------------> +---------+ ---+ start_reading():
 *     | IDLE |                                                  | READING |    | sets read_again
 *     +------+ <----------------------------------------------- +---------+ <--+
 *                 read_done(): starts the next pass at
 *                 once if read_again is set
 *
 * The builder makes a new base index: either by a merge of what the engine has (one fiber:
 * merge_run(), then merge_done()) or by a load of all papers (load_run(), then load_done()).
 *
 *                 read_done(), if a merge is due
 *     +------+ -----------------------------------------------> +-------------+
 *     |      | <----------------------------------------------- | BUILD_MERGE |
 *     |      |    merge_done(): calls start_reading()           +-------------+
 *     | BUILD|
 *     | _NONE|    read_pass(), if too many changes are missing
 *     |      | -----------------------------------------------> +-------------+
 *     |      | <----------------------------------------------- | BUILD_LOAD  |
 *     +------+    load_done(): sets has_gap if the load failed, +-------------+
 *                 and calls start_reading()
 *
 * During a build the reader goes on until it has applied MERGE_PAPERS changes; later changes wait for
 * the end of the build. A merge begins only after a pass, and a load only in a pass, so that no
 * change is being applied at that moment.
 *
 * During a load, `seq` is already the last change that the load will contain. If the load fails, the
 * next pass resets `seq` to load_since, because has_gap is set. Changes that are applied meanwhile come
 * after a gap, so the index does not count as complete beyond load_since: a snapshot that is saved then
 * makes the next start read the gap. */
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

static const char *data_dir; /* used by this replica alone; "": the index is not saved */

const struct setting INDEXER_SETTINGS[] = {
	SETTING_TEXT(&data_dir, "DATA_DIR", "",
                     "Folder of this replica alone, where the index is kept between starts; "
                     "empty: the index is rebuilt at each start."),
	SETTING_END,
};

/* Period of the poll timer: until the index has caught up, and afterwards. */
#define POLL_STARTING_MS 20
#define POLL_MS          1000

#define PASS_TIMEOUT_MS  60000
#define BUILD_TIMEOUT_MS 3600000

/* Papers of one page of a load. */
#define PAGE_PAPERS 1000

/* Changes of one pass. A pass takes time in proportion to all unmerged changes, so a pass reads as
 * many as are unmerged, if that is more. */
#define BATCH_PAPERS 4000

/* A pass that read this many changes is part of an import: the next pass waits for the timer, and a
 * merge waits for the end of the import. */
#define BULK_PAPERS 1000

/* Unmerged changes that make a merge due during an import, and the most that one pass reads
 * (VECTOR_CHANGES_SQL has the same limit). */
#define MERGE_PAPERS 16000

/* All papers are loaded when the index lacks more changes than LOAD_PAPERS and more than it has
 * papers. Missing papers are not found until the load ends, so an index that has already caught up
 * must lack SERVING_FACTOR times LOAD_PAPERS. */
#define LOAD_PAPERS    4000
#define SERVING_FACTOR 16

/* What the builder does. */
enum build { BUILD_NONE, BUILD_MERGE, BUILD_LOAD };

struct indexer {
	struct index_writer writer;
	const char *space;     /* of an external embedder's vectors; NULL: built-in embedder */
	struct worker *worker; /* NULL: not started, or stopped */
	uv_timer_t poll;       /* calls start_reading() */
	char source[UUID_TEXT_LEN + 1]; /* id of the database; "": not read yet */
	uint64_t seq;    /* last change applied, or contained in the load under way */
	size_t unmerged; /* changes applied since the last build began */

	/* Reader */
	bool is_reading;
	bool read_again; /* start another pass when this one ends */
	bool is_bulk;    /* the last pass read at least BULK_PAPERS changes */
	bool is_failing; /* the last pass failed */
	bool has_gap;    /* a load failed: the changes after load_since must be read again */

	/* Builder */
	enum build build;
	struct engine_merge *load; /* while it receives papers; NULL: none, or it has them all */
	uint64_t load_until;       /* last change that the load contains */
	uint64_t load_since;       /* `seq` before the load */

	_Atomic bool is_caught_up;
	_Atomic int64_t updated_at_ms;
};

static struct metric documents_gauge =
	METRIC_GAUGE("expops_index_documents", "Papers in the index of this replica.");
static struct metric bytes_gauge =
	METRIC_GAUGE("expops_index_bytes", "Memory of the index of this replica.");

static void start_reading(struct indexer *indexer);

/* Whether the process is shutting down; no new work is started then. */
static bool is_ending(const struct indexer *indexer)
{
	return !indexer->worker || indexer->worker->process->is_draining;
}

/* In the arena; NULL: the index is not saved. */
static const char *snapshot_path(struct request *rq, const struct indexer *indexer)
{
	return data_dir[0] ? index_files_path(rq->arena, data_dir, indexer->source) : NULL;
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
	struct index_work *work = index_work_new(rq, &indexer->writer);
	work->path = snapshot_path(rq, indexer);
	if (!work->path)
		return;
	fiber_offload(rq, index_work_save, work);
	if (!work->is_done)
		log_warn(LOG_GROUP_APP, "cannot save the index", f_text("path", work->path));
}

/* Run `load`, which has all its papers, or, if it is NULL, a merge of what the engine has now. */
static void merge_and_save(struct request *rq, struct indexer *indexer, struct engine_merge *load)
{
	uint64_t started_us = time_monotonic_us();
	struct index_work *work = index_work_new(rq, &indexer->writer);
	work->merge = load;
	fiber_offload(rq, index_work_merge, work);
	if (!work->is_done)
		raise_error(rq, ERR_UNAVAILABLE, "abandoned: the process is shutting down");
	show_size(indexer);
	log_info(LOG_GROUP_APP, "index merged",
	         f_int("documents", indexer_state(indexer).documents),
	         f_float("seconds", (double)(time_monotonic_us() - started_us) / 1e6));
	save_index(rq, indexer);
}

static void merge_run(struct request *rq)
{
	merge_and_save(rq, rq->user, NULL);
}

static void merge_done(struct request *rq)
{
	struct indexer *indexer = rq->user;
	indexer->build = BUILD_NONE;
	start_reading(indexer); /* changes may have waited for the end of the merge */
}

/* Called when no pass runs. */
static void start_merge_if_due(struct indexer *indexer)
{
	if (indexer->build != BUILD_NONE || is_ending(indexer) ||
	    !engine_is_merge_due(indexer->writer.engine))
		return;
	if (indexer->is_bulk && indexer->unmerged < MERGE_PAPERS)
		return;
	indexer->build = BUILD_MERGE;
	indexer->unmerged = 0;
	request_spawn(indexer->worker, "index-merge", BUILD_TIMEOUT_MS, merge_run, merge_done,
	              indexer);
}

/* --- Loading ---------------------------------------------------------------------------------- */

static void load_run(struct request *rq)
{
	struct indexer *indexer = rq->user;
	bool has_more = true;
	for (uint64_t seq = 0; has_more && seq < indexer->load_until;) {
		if (is_ending(indexer))
			raise_error(rq, ERR_UNAVAILABLE, "abandoned: the process is shutting down");
		request_page_begin(rq);
		struct index_work *work =
			index_work_read(rq, &indexer->writer, indexer->space, seq, PAGE_PAPERS);
		work->merge = indexer->load;
		fiber_offload(rq, index_work_add, work);
		has_more = work->count > 0;
		if (has_more)
			seq = work->changes[work->count - 1].document.seq;
		request_page_end(rq);
	}
	struct engine_merge *load = indexer->load;
	indexer->load = NULL; /* index_work_merge() frees it, in any case */
	merge_and_save(rq, indexer, load);
	indexer->updated_at_ms = time_now_ms();
}

static void load_done(struct request *rq)
{
	struct indexer *indexer = rq->user;
	if (indexer->load) {
		uv_mutex_lock(&indexer->writer.lock);
		engine_merge_cancel(indexer->writer.engine, indexer->load);
		uv_mutex_unlock(&indexer->writer.lock);
		indexer->load = NULL;
	}
	indexer->build = BUILD_NONE;
	indexer->has_gap = rq->problem.code != ERR_NONE;
	if (indexer->has_gap && !is_ending(indexer))
		log_warn(LOG_GROUP_APP, "cannot rebuild the index",
		         f_text("reason", rq->problem.detail));
	start_reading(indexer);
}

/* Rebuild the index from every paper up to change `newest`. Meanwhile the old index still receives
 * later changes, so a small change need not wait. Called from the reader's fiber alone. */
static void start_load(struct indexer *indexer, uint64_t newest)
{
	indexer->build = BUILD_LOAD;
	indexer->unmerged = 0;
	indexer->load = engine_load_new(indexer->writer.engine, newest);
	indexer->load_until = newest;
	/* If the previous load failed during this pass, load_since of that load still holds. */
	if (!indexer->has_gap)
		indexer->load_since = indexer->seq;
	indexer->has_gap = false;
	indexer->seq = newest;
	request_spawn(indexer->worker, "index-load", BUILD_TIMEOUT_MS, load_run, load_done,
	              indexer);
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Read one batch of changes and apply it. Returns whether there may be more. */
static bool read_batch(struct request *rq, struct indexer *indexer)
{
	size_t limit =
		MIN_OF(MAX_OF(indexer->unmerged, (size_t)BATCH_PAPERS), (size_t)MERGE_PAPERS);
	struct index_work *work =
		index_work_read(rq, &indexer->writer, indexer->space, indexer->seq, (int64_t)limit);
	indexer->is_bulk = work->count >= BULK_PAPERS;
	if (work->count == 0)
		return false;
	uint64_t last = work->changes[work->count - 1].document.seq;
	bool is_after_gap = indexer->build == BUILD_LOAD || indexer->has_gap;
	work->complete = is_after_gap ? indexer->load_since : last;
	fiber_offload(rq, index_work_apply, work);
	indexer->seq = last;
	indexer->unmerged += work->count;
	indexer->updated_at_ms = time_now_ms();
	show_size(indexer);
	return work->count == limit;
}

/* Restore the snapshot of this database, if there is one. */
static void restore_index(struct request *rq, struct indexer *indexer)
{
	struct index_work *work = index_work_new(rq, &indexer->writer);
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
	         f_int("documents", indexer_state(indexer).documents));
}

/* The database was replaced, or restored to an earlier state: the index may hold papers that no
 * longer exist, and change numbers that it has seen will be used again. Remove the snapshot and end
 * the process, which its supervisor starts again. */
attr_noreturn static void start_over(struct request *rq, struct indexer *indexer)
{
	const char *path = snapshot_path(rq, indexer);
	if (path)
		unlink(path);
	log_error(
		LOG_GROUP_APP,
		"the database was replaced or restored from a backup: exiting to rebuild the index",
		f_int("index_change", (int64_t)indexer->seq));
	kill(getpid(), SIGTERM);
	raise_error(rq, ERR_UNAVAILABLE, "the database was replaced or restored from a backup");
}

/* Number of the newest change in the database, after checking that the index was built from it. */
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
		start_over(rq, indexer);
	return newest;
}

/* Whether loading all papers costs less than applying the missing changes. */
static bool is_far_behind(struct request *rq, const struct indexer *indexer, uint64_t newest)
{
	int64_t minimum = indexer->is_caught_up ? LOAD_PAPERS * SERVING_FACTOR : LOAD_PAPERS;
	int64_t threshold = MAX_OF(indexer_state(indexer).documents, minimum) + 1;
	if (indexer->build != BUILD_NONE || newest - indexer->seq < (uint64_t)threshold)
		return false;
	struct pg_rows *rows = pg_query(rq, ASSET_BEHIND_SQL, pg_int((int64_t)indexer->seq),
	                                pg_int(threshold), pg_text(indexer->space));
	return pg_value_int(rows, 0, 0) == threshold;
}

static void read_pass(struct request *rq)
{
	struct indexer *indexer = rq->user;
	if (indexer->has_gap)
		indexer->seq = indexer->load_since;
	indexer->has_gap = false;
	uint64_t newest = newest_change(rq, indexer);
	if (is_far_behind(rq, indexer, newest))
		start_load(indexer, newest);
	if (indexer->build != BUILD_NONE && indexer->unmerged >= MERGE_PAPERS)
		return;
	if (read_batch(rq, indexer))
		indexer->read_again = true;
	else if (indexer->build != BUILD_LOAD && !indexer->has_gap)
		indexer->is_caught_up = true;
}

static void read_done(struct request *rq)
{
	struct indexer *indexer = rq->user;
	bool has_failed = rq->problem.code != ERR_NONE;
	indexer->is_reading = false;
	if (has_failed && !indexer->is_failing && !is_ending(indexer))
		log_warn(LOG_GROUP_APP, "cannot read changes from Postgres",
		         f_text("reason", rq->problem.detail));
	if (!has_failed && indexer->is_failing)
		log_info(LOG_GROUP_APP, "reading changes from Postgres again");
	indexer->is_failing = has_failed;
	start_merge_if_due(indexer);
	if (indexer->read_again && !has_failed)
		start_reading(indexer);
}

static void start_reading(struct indexer *indexer)
{
	if (is_ending(indexer) || !indexer->worker->process->is_migrated)
		return;
	indexer->read_again = indexer->is_reading;
	if (indexer->is_reading)
		return;
	indexer->is_reading = true;
	request_spawn(indexer->worker, "index-read", PASS_TIMEOUT_MS, read_pass, read_done,
	              indexer);
}

/* The short period applies at start-up, until the index has caught up or a load has begun. */
static void on_poll(uv_timer_t *timer)
{
	struct indexer *indexer = timer->data;
	bool is_starting = !indexer->is_caught_up && indexer->build != BUILD_LOAD;
	uv_timer_set_repeat(timer, is_starting ? POLL_STARTING_MS : POLL_MS);
	start_reading(indexer);
}

/* During an import only the timer starts passes. */
static void on_notify(void *context, const char *payload)
{
	struct indexer *indexer = context;
	(void)payload;
	if (!indexer->is_bulk)
		start_reading(indexer);
}

/* --- Life cycle ------------------------------------------------------------------------------- */

struct indexer *indexer_new(struct process *process, const char *space)
{
	struct indexer *indexer = calloc(1, sizeof(*indexer));
	require(indexer);
	indexer->writer.engine = engine_new(space);
	indexer->writer.cancel = &process->is_draining;
	indexer->space = space;
	require(uv_mutex_init(&indexer->writer.lock) == 0);
	char reason[128];
	int fault = data_dir[0] ? index_files_prepare(data_dir) : 0;
	if (fault)
		log_warn(LOG_GROUP_APP, "cannot save the index in DATA_DIR",
		         f_text("path", data_dir),
		         f_text("reason", strerror_r(fault, reason, sizeof(reason))));
	metric_register(&documents_gauge);
	metric_register(&bytes_gauge);
	return indexer;
}

void indexer_free(struct indexer *indexer)
{
	engine_free(indexer->writer.engine);
	uv_mutex_destroy(&indexer->writer.lock);
	free(indexer);
}

void indexer_start(struct indexer *indexer, struct worker *worker)
{
	indexer->worker = worker;
	uv_timer_init(&worker->loop, &indexer->poll);
	indexer->poll.data = indexer;
	uv_timer_start(&indexer->poll, on_poll, POLL_STARTING_MS, POLL_STARTING_MS);
	pg_listen(worker->pg, "asset_changed", on_notify, indexer);
}

void indexer_stop(struct indexer *indexer)
{
	indexer->worker = NULL;
	uv_close((uv_handle_t *)&indexer->poll, NULL);
}

struct engine_view *indexer_view(const struct indexer *indexer)
{
	return engine_view_get(indexer->writer.engine);
}

struct index_state indexer_state(const struct indexer *indexer)
{
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
