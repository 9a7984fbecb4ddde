/* The indexer with Postgres. The test turns the loop and keeps the threads of the long lane, so
 * that it decides what has happened when a restore or an adoption ends. */
#include "indexing/indexer.h"

#include "capture.h"
#include "generated.h"
#include "loop/thread_pool.h"
#include "pg_suite.h"
#include "scratch.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define SOURCE "00000000-0000-7000-8000-000000000001"

/* Papers in the snapshot, which is complete up to this change. */
#define SAVED 100

/* What the statements of the indexer need of the tables. The first paper is not in the snapshot,
 * though that claims to have it: an index with this paper was not restored. */
static const char TABLES[] =
	"CREATE TABLE index_source AS SELECT uuid '" SOURCE "' AS id;"
	"CREATE TABLE asset (change bigint, arxiv_id text, title text, abstract text DEFAULT '',"
	" comments text, authors text[] DEFAULT '{}', categories text[] DEFAULT '{}',"
	" published_at timestamptz, has_container bool DEFAULT false,"
	" is_deleted bool DEFAULT false);"
	"CREATE TABLE asset_vector (space text, change bigint);"
	"CREATE TABLE embedder (version text, number bigint GENERATED ALWAYS AS IDENTITY,"
	" format int, recipe int, bytes int);"
	"CREATE TABLE embedder_chunk (version text, number int, data bytea);"
	"CREATE FUNCTION indexed_categories(text, text[]) RETURNS text LANGUAGE sql"
	" RETURN array_to_string($2, ' ');"
	"INSERT INTO asset (change, arxiv_id, title) VALUES (1, '2401.00001', 'Early'),"
	" (100, '2401.00100', 'Saved')";

static struct indexer *indexer;
static char folder[SCRATCH_PATH_MAX];
static char snapshot[SCRATCH_PATH_MAX + 64];

static void save_snapshot(void)
{
	struct engine *engine = engine_new(NULL);
	fill_generated(engine, SAVED);
	struct engine_view *view = engine_view_get(engine);
	assert_true(engine_save(view, snapshot));
	engine_view_put(view);
	engine_free(engine);
}

static int start_server_with_tables(void **state)
{
	int status = start_server(state);
	pg_fixture_run(&server, TABLES);
	return status;
}

static int setup(void **state)
{
	(void)state;
	scratch_new(folder, "indexer");
	snprintf(snapshot, sizeof(snapshot), "%s/index-" SOURCE ".snapshot", folder);
	save_snapshot();
	setenv("DATA_DIR", folder, 1);
	assert_int_equal(config_load(INDEXER_SETTINGS), ERR_NONE);
	open_pool(&(struct pg_settings){.url = server.url, .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	fixture.process.is_migrated = true;
	indexer = indexer_new(&fixture.process, NULL);
	indexer_start(indexer, &fixture.worker);
	return 0;
}

static int stop(void **state)
{
	indexer_stop(indexer);
	fixture_idle(&fixture);
	teardown(state);
	indexer_free(indexer);
	unlink(snapshot);
	rmdir(folder);
	return 0;
}

/* --- The long lane ---------------------------------------------------------------------------- */

static struct computation kept[256];
static uv_sem_t may_end, has_ended;

static void keep_thread(struct computation *computation attr_unused)
{
	uv_sem_wait(&may_end);
}

static void leave_thread(struct computation *computation attr_unused)
{
	uv_sem_post(&has_ended);
}

/* Keep all threads of the lane, so that what is added to it waits. */
static void keep_lane(void)
{
	int count = thread_pool_threads_max(LANE_LONG);
	assert_true(count <= (int)ARRAY_LEN(kept));
	uv_sem_init(&may_end, 0);
	uv_sem_init(&has_ended, 0);
	for (int i = 0; i < count; i++) {
		kept[i] = (struct computation){.run = keep_thread, .done = leave_thread};
		assert_true(thread_pool_add(LANE_LONG, &kept[i], &(struct uuid){0}));
	}
}

static void leave_lane(void)
{
	int count = thread_pool_threads_max(LANE_LONG);
	for (int i = 0; i < count; i++)
		uv_sem_post(&may_end);
	for (int i = 0; i < count; i++)
		uv_sem_wait(&has_ended);
	uv_sem_destroy(&may_end);
	uv_sem_destroy(&has_ended);
}

/* --- Restoring -------------------------------------------------------------------------------- */

/* With the lane kept: until the restore waits for a thread. */
static void until_restore_waits(void)
{
	fixture_wait_start(&fixture);
	while (!indexer_source(indexer)[0])
		fixture_turn(&fixture);
	fiber_run_ready();
}

/* As when the deadline of a pass has come. */
static void cancel_pass(void)
{
	request_list_cancel(fixture.worker.requests, ERR_TIMEOUT);
	fiber_run_ready();
}

static void until_caught_up(void)
{
	fixture_wait_start(&fixture);
	while (!indexer_state(indexer).is_caught_up)
		fixture_turn(&fixture);
}

static void test_the_snapshot_is_restored(void **state attr_unused)
{
	until_caught_up();
	assert_int_equal(indexer_state(indexer).documents, SAVED);
}

static void test_a_restore_that_found_no_thread_in_time_is_repeated(void **state attr_unused)
{
	keep_lane();
	until_restore_waits();
	cancel_pass();
	leave_lane();
	until_caught_up();
	assert_int_equal(indexer_state(indexer).documents, SAVED);
}

static void test_a_restore_that_ends_after_its_deadline_counts(void **state attr_unused)
{
	keep_lane();
	until_restore_waits();
	leave_lane();
	while (indexer_state(indexer).documents == 0) /* it runs while the loop stands still */
		sched_yield();
	cancel_pass();
	until_caught_up();
	assert_int_equal(indexer_state(indexer).documents, SAVED);
}

static void test_without_a_snapshot_all_papers_are_read(void **state attr_unused)
{
	unlink(snapshot);
	until_caught_up();
	assert_int_equal(indexer_state(indexer).documents, 2);
}

/* --- Adoption --------------------------------------------------------------------------------- */

static struct embedder *train_embedder(void)
{
	struct engine *engine = engine_new(NULL);
	fill_generated(engine, SAVED);
	struct embedder *embedder = train_on_engine(engine);
	engine_free(engine);
	assert_non_null(embedder);
	return embedder;
}

static bool is_stored;

static void store_embedder(struct request *rq)
{
	const struct embedder *embedder = rq->user;
	size_t length = embedder->header->length;
	pg_query(rq, "INSERT INTO embedder_chunk VALUES ($1, 0, $2)", pg_text(embedder->version),
	         pg_bytes(embedder->header, length));
	pg_query(rq,
	         "INSERT INTO embedder (version, format, recipe, bytes) VALUES ($1, $2, $3, $4)",
	         pg_text(embedder->version), pg_int(EMBEDDER_FORMAT), pg_int(TRAINING_RECIPE),
	         pg_int((int64_t)length));
	is_stored = true;
}

/* Not until all requests have ended: the indexer may look meanwhile, and its adoption waits. */
static void until_stored(struct embedder *embedder)
{
	is_stored = false;
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, store_embedder, NULL, embedder);
	fixture_until(&fixture, &is_stored);
}

/* Store a paper and let the indexer read it, which looks at the embedder, too. */
static void read_another_paper(void)
{
	uint32_t documents = indexer_state(indexer).documents;
	pg_fixture_run(&server, "INSERT INTO asset (change, arxiv_id, title)"
	                        " SELECT max(change) + 1, '2402.' || max(change), 'Late'"
	                        " FROM asset; NOTIFY asset_changed");
	fixture_wait_start(&fixture);
	while (indexer_state(indexer).documents == documents)
		fixture_turn(&fixture);
}

/* After an adoption the index is saved. */
static void until_saved(void)
{
	fixture_wait_start(&fixture);
	while (access(snapshot, F_OK) != 0)
		fixture_turn(&fixture);
}

static size_t count_in(const char *text, const char *part)
{
	size_t count = 0;
	while ((text = strstr(text, part))) {
		text += strlen(part);
		count++;
	}
	return count;
}

static void test_a_version_is_adopted_once(void **state attr_unused)
{
	static char output[65536];
	struct embedder *embedder = train_embedder();
	until_caught_up();
	unlink(snapshot);
	struct capture capture = capture_start(STDOUT_FILENO);
	keep_lane();
	until_stored(embedder);
	read_another_paper(); /* the adoption begins */
	read_another_paper(); /* Postgres is looked at meanwhile */
	leave_lane();
	until_saved();
	capture_stop(&capture, output, sizeof(output));
	assert_int_equal(count_in(output, "embedder adopted"), 1);
	struct engine_view *view = indexer_view(indexer);
	assert_string_equal(engine_version(view), embedder->version);
	engine_view_put(view);
	embedder_free(embedder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_snapshot_is_restored, setup, stop),
		cmocka_unit_test_setup_teardown(
			test_a_restore_that_found_no_thread_in_time_is_repeated, setup, stop),
		cmocka_unit_test_setup_teardown(test_a_restore_that_ends_after_its_deadline_counts,
	                                        setup, stop),
		cmocka_unit_test_setup_teardown(test_without_a_snapshot_all_papers_are_read, setup,
	                                        stop),
		cmocka_unit_test_setup_teardown(test_a_version_is_adopted_once, setup, stop),
	};
	return cmocka_run_group_tests(tests, start_server_with_tables, stop_server);
}
