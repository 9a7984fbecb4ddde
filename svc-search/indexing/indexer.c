/* Carries out what the follower decides (follower.h). The background worker drives two parts, each
 * of which runs at most one fiber at a time; both may run at the same time.
 *
 * The reader applies new changes. A pass is one fiber (read_pass(), then read_done()) and applies
 * one page.
 *
 *                 start_reading(): by the poll timer, by a
 *                 notification, or at once when more is to be read
 *     +------+ -----------------------------------------------> +---------+ ---+ start_reading():
 *     | IDLE |                                                  | READING |    | sets read_again
 *     +------+ <----------------------------------------------- +---------+ <--+
 *                 read_done()
 *
 * The first pass that reaches Postgres only learns which database it is. The pass after it restores
 * the snapshot of that database (restore_pass(), then restore_done()), which may take minutes. It
 * is repeated until the restore has run.
 *
 * The builder adopts a new version of the built-in embedder, merges parts of the index and saves it
 * (build_run(), then build_done()), when a pass or a build has ended and one of the three is
 * due. */
#include "indexing/indexer.h"

#include "base/timefmt.h"
#include "crypto/uuid.h"
#include "index.sql.h"
#include "indexing/embedder_store.h"
#include "indexing/follower.h"
#include "indexing/index_files.h"
#include "indexing/index_work.h"
#include "loop/request.h"
#include "loop/thread_pool.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "observe/metrics.h"
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
                     "Folder of this replica alone, where the index is kept between starts, and "
                     "large parts of it while they are used; empty: the index is in memory only "
                     "and rebuilt at each start."),
	SETTING_END,
};

/* Period of the poll timer: until the index has caught up, and afterwards. */
#define POLL_STARTING_MS 20
#define POLL_MS          1000

/* Texts of a page are read by this part of the threads that searches may have. */
#define APPLY_THREADS_PART 2

#define PASS_TIMEOUT_MS    60000
#define RESTORE_TIMEOUT_MS 3600000
#define BUILD_TIMEOUT_MS   3600000

/* A change waits at most for the two pages that are read before it, of which each takes some tenths
 * of a second (VECTOR_CHANGES_SQL has the limit, too). */
static const struct follower_limits LIMITS = {.head_page = 4000, .gap_page = 4000, .jump = 8000};

/* After a page of at least this many changes that is not full, the next one is read some time
 * later: it becomes larger, and a part of the index costs less for each of its papers the larger it
 * is. */
#define PAUSE_CHANGES 256
#define PAUSE_MS      300

/* The index is saved after as many changes as a fraction of its papers, within these bounds. As all
 * of it is written, it is saved less often while many changes come in: until none has come for
 * REST_MS. */
#define SAVE_FRACTION         8
#define SAVE_FRACTION_RUSHING 2
#define SAVE_MIN              2000
#define SAVE_MAX              16000
#define REST_MS               3000

struct indexer {
	struct index_writer writer;
	const char *space;     /* of an external embedder's vectors; NULL: built-in embedder */
	struct worker *worker; /* NULL: not started, or stopped */
	uv_timer_t poll;       /* calls start_reading() */
	char source[UUID_TEXT_LEN + 1]; /* id of the database; "": not read yet */
	bool is_restored; /* the engine has what a snapshot of that database has, if anything */
	struct follower follower;

	bool is_reading;           /* or restoring */
	struct follower_page page; /* that is being read */
	bool read_again;           /* start another pass when this one ends */
	bool is_pausing;           /* the next pass is started by the poll timer only */
	bool is_failing;           /* the last pass failed */
	bool is_starting_over;     /* the process was asked to end, see start_over() */

	/* Of the built-in embedder: */
	char version[EMBEDDER_VERSION_BYTES]; /* current in Postgres; "": none, or external */
	int64_t version_number;
	bool is_adoption_due; /* as of the last look at Postgres; false: it was tried since */

	_Atomic bool is_caught_up;
	_Atomic int64_t updated_at_ms;
};

METRIC_GAUGE(documents_gauge, "expops_index_documents", "Papers in the index of this replica.");
METRIC_GAUGE(bytes_gauge, "expops_index_bytes", "Memory of the index of this replica.");
METRIC_GAUGE(parts_gauge, "expops_index_parts", "Parts of the index that a search looks into.");

METRIC_GAUGE(embedder_gauge, "expops_embedder_number",
             "Number of the built-in embedder's version that this replica uses; it is the "
             "same in all replicas, except while they adopt a new one. 0: none, external, or "
             "not the current one.");

static void start_reading(struct indexer *indexer);
static void on_poll(uv_timer_t *timer);

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

/* Whether the view has the vectors of the current version. */
static bool uses_version(const struct indexer *indexer, const struct engine_view *view)
{
	return strcmp(engine_version(view), indexer->version) == 0;
}

static void show_size(struct indexer *indexer)
{
	struct engine_view *view = engine_view_get(indexer->writer.engine);
	metric_set(&documents_gauge, NULL, NULL, engine_view_count(view));
	metric_set(&bytes_gauge, NULL, NULL, (double)engine_view_bytes(view));
	metric_set(&parts_gauge, NULL, NULL, (double)engine_view_parts(view));
	metric_set(&embedder_gauge, NULL, NULL,
	           uses_version(indexer, view) ? (double)indexer->version_number : 0);
	engine_view_put(view);
}

/* --- Building --------------------------------------------------------------------------------- */

/* Unless index_work_adopt() has taken it. */
static void release_embedder(void *arg)
{
	struct index_work *work = arg;
	embedder_free(work->embedder);
}

/* Load the current version of the embedder from Postgres and let the engine adopt it. */
static void adopt_version(struct request *rq, struct indexer *indexer)
{
	uint64_t started_us = time_monotonic_us();
	const char *version = arena_strdup(rq->arena, indexer->version);
	struct index_work *work = index_work_new(rq, &indexer->writer);
	indexer->is_adoption_due = false;
	work->embedder = embedder_store_load(rq, version);
	arena_on_free(rq->arena, release_embedder, work);
	if (!work->embedder) {
		log_warn("cannot load the embedder", f_text("version", version));
		return;
	}
	fiber_offload(rq, LANE_LONG, index_work_adopt, work);
	if (!work->is_done)
		return;
	show_size(indexer);
	log_info("embedder adopted", f_text("version", version),
	         f_int("documents", indexer_state(indexer).documents),
	         f_float("seconds", (double)(time_monotonic_us() - started_us) / 1e6));
}

static void merge_index(struct request *rq, struct indexer *indexer)
{
	uint64_t started_us = time_monotonic_us();
	struct index_work *work = index_work_new(rq, &indexer->writer);
	fiber_offload(rq, LANE_LONG, index_work_merge, work);
	if (work->has_file_failed)
		log_warn("cannot write a file of a merge beside the snapshot; the result is in "
		         "memory",
		         f_text("path", snapshot_path(rq, indexer)));
	if (!work->is_done)
		return;
	show_size(indexer);
	log_info("index merged", f_int("documents", indexer_state(indexer).documents),
	         f_float("seconds", (double)(time_monotonic_us() - started_us) / 1e6));
}

static void save_index(struct request *rq, struct indexer *indexer)
{
	struct index_work *work = index_work_new(rq, &indexer->writer);
	work->path = snapshot_path(rq, indexer);
	if (!work->path)
		return;
	fiber_offload(rq, LANE_LONG, index_work_save, work);
	if (!work->is_done)
		log_warn("cannot save the index", f_text("path", work->path));
}

static void build_run(struct request *rq)
{
	struct indexer *indexer = rq->user;
	enum follower_build build = indexer->follower.build;
	if (build == BUILD_ADOPT)
		adopt_version(rq, indexer);
	else if (build == BUILD_MERGE)
		merge_index(rq, indexer);
	else
		save_index(rq, indexer);
}

static void start_build_if_due(struct indexer *indexer);

static void build_done(struct request *rq)
{
	struct indexer *indexer = rq->user;
	follower_built(&indexer->follower);
	start_build_if_due(indexer);
}

/* Changes after which the index is saved. */
static size_t save_after(const struct indexer *indexer)
{
	size_t documents = indexer_state(indexer).documents;
	if (follower_has_more(&indexer->follower) ||
	    time_now_ms() - indexer->updated_at_ms < REST_MS)
		return MAX_OF(documents / SAVE_FRACTION_RUSHING, (size_t)SAVE_MIN);
	return MIN_OF(MAX_OF(documents / SAVE_FRACTION, (size_t)SAVE_MIN), (size_t)SAVE_MAX);
}

/* An adoption that has ended since Postgres was looked at may have brought the version. */
static bool needs_version(const struct indexer *indexer)
{
	struct engine_view *view = engine_view_get(indexer->writer.engine);
	bool is_needed = indexer->is_adoption_due && !uses_version(indexer, view);
	engine_view_put(view);
	return is_needed;
}

/* What the engine needs. */
static enum follower_build due_build(const struct indexer *indexer)
{
	if (needs_version(indexer))
		return BUILD_ADOPT;
	return engine_is_merge_due(indexer->writer.engine, ENGINE_MERGE_DUE) ? BUILD_MERGE
	                                                                     : BUILD_NONE;
}

/* Nothing else uses the engine's writing side when no page is being applied and no build runs. */
static void start_build_if_due(struct indexer *indexer)
{
	const struct follower *follower = &indexer->follower;
	if (is_ending(indexer) || follower->is_reading || follower->build != BUILD_NONE)
		return;
	if (follower_build(&indexer->follower, due_build(indexer), save_after(indexer)) !=
	    BUILD_NONE)
		request_spawn(indexer->worker, "index-build", BUILD_TIMEOUT_MS, build_run,
		              build_done, indexer);
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Read a page of changes and apply it. */
static void read_page(struct request *rq, struct indexer *indexer, const struct follower_page *page)
{
	struct follower *follower = &indexer->follower;
	struct index_work *work = index_work_read(rq, &indexer->writer, indexer->space, page);
	uint64_t last = work->count > 0 ? work->changes[work->count - 1].document.seq : 0;
	work->complete = follower_complete_with(follower, page, work->count, last);
	fiber_offload(rq, LANE_SHORT, index_work_apply, work);
	follower_applied(follower, page, work->count, last);
	indexer->is_pausing = work->count >= PAUSE_CHANGES && !follower_has_more(follower);
	indexer->updated_at_ms = time_now_ms();
	show_size(indexer);
}

static void start_restored(struct indexer *indexer, const char *path)
{
	struct engine_view *view = engine_view_get(indexer->writer.engine);
	follower_restored(&indexer->follower, engine_view_seq(view), engine_view_newest(view));
	engine_view_put(view);
	indexer->updated_at_ms = time_now_ms();
	show_size(indexer);
	log_info("index restored", f_text("path", path),
	         f_int("documents", indexer_state(indexer).documents));
}

/* Called when the fiber ends, also one that is cancelled: the engine has what a restore that has
 * run brought, however late that was. */
static void note_restore(struct request *rq, void *held)
{
	struct indexer *indexer = rq->user;
	const struct index_work *work = held;
	indexer->is_restored = work->has_run;
	if (work->is_done)
		start_restored(indexer, work->path);
}

/* Restore the snapshot of this database, if there is one. */
static void restore_pass(struct request *rq)
{
	struct indexer *indexer = rq->user;
	struct index_work *work = index_work_new(rq, &indexer->writer);
	work->path = snapshot_path(rq, indexer);
	request_hold(rq, note_restore, work);
	fiber_offload(rq, LANE_LONG, index_work_restore, work);
}

static void restore_done(struct request *rq)
{
	struct indexer *indexer = rq->user;
	indexer->is_reading = false;
	if (!indexer->is_restored && !indexer->is_failing && !is_ending(indexer))
		log_warn("cannot restore the index", f_text("reason", rq->problem.detail));
	indexer->is_failing = !indexer->is_restored;
	if (indexer->is_restored)
		start_reading(indexer);
}

/* The database was replaced, or restored to an earlier state: the index may hold papers that no
 * longer exist, and change numbers that it has seen will be used again. Remove the snapshot and end
 * the process, which its supervisor starts again. */
attr_noreturn static void start_over(struct request *rq, struct indexer *indexer)
{
	const char *path = snapshot_path(rq, indexer);
	if (path)
		unlink(path);
	if (!indexer->is_starting_over) {
		log_error("the database was replaced or restored from a backup: exiting to rebuild "
		          "the index",
		          f_int("index_change", (int64_t)indexer->follower.newest));
		kill(getpid(), SIGTERM);
	}
	indexer->is_starting_over = true;
	raise_error(rq, ERR_UNAVAILABLE, "the database was replaced or restored from a backup");
}

/* Note the current version of the built-in embedder. An empty index adopts it at once, so that no
 * paper is embedded twice. */
static void look_at_version(struct request *rq, struct indexer *indexer, const char *version,
                            int64_t number)
{
	if (indexer->space || !version)
		return;
	snprintf(indexer->version, sizeof(indexer->version), "%s", version);
	indexer->version_number = number;
	struct engine_view *view = engine_view_get(indexer->writer.engine);
	indexer->is_adoption_due = !uses_version(indexer, view);
	bool is_empty = engine_view_parts(view) == 0;
	engine_view_put(view);
	if (indexer->is_adoption_due && is_empty && indexer->follower.build == BUILD_NONE)
		adopt_version(rq, indexer);
}

/* Look up the newest change in the database, and whether the index was built from it. */
static void look(struct request *rq, struct indexer *indexer)
{
	struct pg_rows *rows = pg_query(rq, ASSET_NEWEST_SQL, pg_text(indexer->space),
	                                pg_int(EMBEDDER_FORMAT), pg_int(TRAINING_RECIPE));
	const char *source = pg_get(rows, 0, "id");
	uint64_t newest = (uint64_t)pg_get_int(rows, 0, "newest");
	if (!indexer->source[0])
		snprintf(indexer->source, sizeof(indexer->source), "%s", source);
	if (!indexer->is_restored)
		return;
	if (strcmp(source, indexer->source) != 0 || !follower_look(&indexer->follower, newest))
		start_over(rq, indexer);
	look_at_version(rq, indexer, pg_get(rows, 0, "version"), pg_get_int(rows, 0, "number"));
}

static void read_pass(struct request *rq)
{
	struct indexer *indexer = rq->user;
	look(rq, indexer);
	if (!indexer->is_restored)
		return;
	indexer->page = follower_begin(&indexer->follower);
	if (indexer->page.limit > 0)
		read_page(rq, indexer, &indexer->page);
	if (index_writer_has_garbage(&indexer->writer))
		fiber_offload(rq, LANE_SHORT, index_work_collect,
		              index_work_new(rq, &indexer->writer));
	indexer->is_caught_up = indexer->follower.is_caught_up;
}

static void read_done(struct request *rq)
{
	struct indexer *indexer = rq->user;
	bool has_failed = rq->problem.code != ERR_NONE;
	indexer->is_reading = false;
	if (indexer->follower.is_reading)
		follower_failed(&indexer->follower, &indexer->page);
	if (has_failed && !indexer->is_failing && !is_ending(indexer))
		log_warn("cannot read changes from Postgres", f_text("reason", rq->problem.detail));
	if (!has_failed && indexer->is_failing)
		log_info("reading changes from Postgres again");
	indexer->is_failing = has_failed;
	start_build_if_due(indexer);
	if (indexer->is_pausing && !is_ending(indexer))
		uv_timer_start(&indexer->poll, on_poll, PAUSE_MS, POLL_MS);
	if (!has_failed &&
	    (indexer->read_again || !indexer->is_restored || follower_has_more(&indexer->follower)))
		start_reading(indexer);
}

static void start_reading(struct indexer *indexer)
{
	if (is_ending(indexer) || !indexer->worker->process->is_migrated)
		return;
	indexer->read_again = indexer->is_reading;
	if (indexer->is_reading || indexer->is_pausing)
		return;
	indexer->is_reading = true;
	if (indexer->source[0] && !indexer->is_restored)
		request_spawn(indexer->worker, "index-restore", RESTORE_TIMEOUT_MS, restore_pass,
		              restore_done, indexer);
	else
		request_spawn(indexer->worker, "index-read", PASS_TIMEOUT_MS, read_pass, read_done,
		              indexer);
}

/* The short period applies at start-up. */
static void on_poll(uv_timer_t *timer)
{
	struct indexer *indexer = timer->data;
	uv_timer_set_repeat(timer, indexer->follower.has_target ? POLL_MS : POLL_STARTING_MS);
	indexer->is_pausing = false;
	start_reading(indexer);
}

static void on_notify(void *context, const char *payload)
{
	(void)payload;
	start_reading(context);
}

/* --- Life cycle ------------------------------------------------------------------------------- */

struct indexer *indexer_new(struct process *process, const char *space)
{
	struct indexer *indexer = calloc(1, sizeof(*indexer));
	require(indexer);
	indexer->writer.engine = engine_new(space);
	engine_set_threads(indexer->writer.engine,
	                   MAX_OF(thread_pool_threads_max(LANE_SHORT) / APPLY_THREADS_PART, 1));
	indexer->writer.cancel = &process->is_draining;
	indexer->space = space;
	indexer->is_restored = !data_dir[0];
	follower_init(&indexer->follower, &LIMITS);
	require(uv_mutex_init(&indexer->writer.lock) == 0);
	char reason[128];
	int fault = data_dir[0] ? index_files_prepare(data_dir) : 0;
	if (fault)
		log_warn("cannot save the index in DATA_DIR", f_text("path", data_dir),
		         f_text("reason", strerror_r(fault, reason, sizeof(reason))));
	else if (data_dir[0])
		engine_set_folder(indexer->writer.engine, data_dir);
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

const char *indexer_source(const struct indexer *indexer)
{
	return indexer->source;
}

const char *indexer_training_path(struct arena *arena, const struct indexer *indexer)
{
	if (!data_dir[0] || !indexer->source[0])
		return NULL;
	return index_files_training_path(arena, data_dir, indexer->source);
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
