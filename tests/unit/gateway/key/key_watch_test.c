/* With a real Postgres, and no Redis: what the cache hears of changes that others commit. */
#include "key/key_watch.h"

#include "key/key_cache.h"
#include "pg_suite.h"
#include "redis/redis.h"

#include <libpq-fe.h>

#define NOBODY "redis://127.0.0.1:1" /* nobody listens there */
#define MARK   200                   /* the account of changes that say how far the watch is */

static struct key_cache *cache;
static struct key_watch *watch;
static struct arena *arena;

static int start_with_changes(void **state)
{
	start_server(state);
	pg_fixture_run(&server, "CREATE TABLE key_change (xid xid8 DEFAULT pg_current_xact_id(), "
	                        "subject uuid)");
	return 0;
}

static int setup(void **state)
{
	(void)state;
	open_pool(&(struct pg_settings){.url = server.url});
	fixture.process.is_migrated = true;
	fixture.worker.redis = redis_new(&fixture.worker.loop, NOBODY, NULL);
	cache = key_cache_new();
	arena = arena_new();
	watch = key_watch_new(&fixture.worker, cache);
	return 0;
}

static int end(void **state)
{
	key_watch_free(watch);
	redis_free(fixture.worker.redis);
	key_cache_free(cache);
	arena_free(arena);
	return teardown(state);
}

/* Account `number`, which is also the hash of its only key. */
static struct uuid account_of(uint8_t number)
{
	return (struct uuid){{[15] = number}};
}

static void put(uint8_t number, uint64_t age_ms)
{
	const struct cached_key key = {.caller.account = account_of(number)};
	const uint8_t hash[SHA256_LEN] = {number};
	struct cache_version read = key_cache_now(cache);
	read.monotonic_ms -= age_ms;
	key_cache_put(cache, hash, &read, &key);
}

static enum key_found get(uint8_t number)
{
	const uint8_t hash[SHA256_LEN] = {number};
	struct cache_version now = key_cache_now(cache);
	struct identity found;
	return key_cache_get(cache, arena, hash, &now, &found);
}

static const char *insert_of(uint8_t number)
{
	char id[UUID_TEXT_LEN + 1];
	struct uuid account = account_of(number);
	uuid_format(&account, id);
	return arena_printf(arena, "INSERT INTO key_change (subject) VALUES ('%s')", id);
}

static void change(uint8_t number)
{
	pg_fixture_run(&server, insert_of(number));
}

static void run_on(PGconn *session, const char *sql)
{
	PGresult *result = PQexec(session, sql);
	assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
	PQclear(result);
}

/* Whether an entry holds that was read so long ago that a look must have confirmed it. */
static bool is_confirmed(uint8_t number)
{
	put(number, KEY_UNSURE_MS);
	return get(number) == KEY_FRESH;
}

/* The watch hears of a change that it has not heard of before, and so of all before. */
static void wait_for_look(void)
{
	put(MARK, 0);
	change(MARK);
	fixture_wait_start(&fixture);
	while (get(MARK) != KEY_STALE)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

static void wait_for_first_look(void)
{
	fixture_wait_start(&fixture);
	while (!is_confirmed(MARK))
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

/* One look, of whatever outcome, begins and ends. */
static void wait_for_any_look(void)
{
	fixture_wait_start(&fixture);
	while (request_list_count(fixture.worker.requests) == 0)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
	fixture_idle(&fixture);
}

static void keys_hold_while_nothing_changes(void **state)
{
	(void)state;
	assert_false(is_confirmed(1));
	wait_for_first_look();
	assert_true(is_confirmed(1));
	put(2, KEY_CACHE_MS);
	assert_int_equal(get(2), KEY_STALE);
}

static void the_keys_of_whom_something_has_changed_are_stale(void **state)
{
	(void)state;
	wait_for_first_look();
	put(1, 0);
	put(2, 0);
	change(1);
	wait_for_look();
	assert_int_equal(get(1), KEY_STALE);
	assert_int_equal(get(2), KEY_FRESH);
	put(1, 0);
	wait_for_look();
	assert_int_equal(get(1), KEY_FRESH); /* a change is heard of once */
}

static void a_change_that_commits_after_later_ones_is_heard(void **state)
{
	(void)state;
	PGconn *slow = PQconnectdb(server.url);
	wait_for_first_look();
	put(1, 0);
	run_on(slow, "BEGIN");
	run_on(slow, insert_of(1));
	wait_for_look();
	wait_for_look();
	assert_int_equal(get(1), KEY_FRESH);
	run_on(slow, "COMMIT");
	wait_for_look();
	assert_int_equal(get(1), KEY_STALE);
	PQfinish(slow);
}

/* The statement of a look fails as it does when there is no connection. */
static void a_look_that_failed_makes_all_keys_stale(void **state)
{
	(void)state;
	wait_for_first_look();
	put(1, 0);
	pg_fixture_run(&server, "ALTER TABLE key_change RENAME TO hidden");
	wait_for_any_look(); /* it may have begun before */
	wait_for_any_look();
	assert_int_equal(get(1), KEY_FRESH);
	pg_fixture_run(&server, "ALTER TABLE hidden RENAME TO key_change");
	wait_for_look();
	assert_int_equal(get(1), KEY_STALE);
}

static void many_changes_make_all_keys_stale(void **state)
{
	(void)state;
	wait_for_first_look();
	put(1, 0);
	pg_fixture_run(&server, "INSERT INTO key_change (subject) SELECT gen_random_uuid() "
	                        "FROM generate_series(1, 1001)");
	fixture_wait_start(&fixture);
	while (get(1) != KEY_STALE)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_hold_while_nothing_changes),
		TEST(the_keys_of_whom_something_has_changed_are_stale),
		TEST(a_change_that_commits_after_later_ones_is_heard),
		TEST(a_look_that_failed_makes_all_keys_stale),
		TEST(many_changes_make_all_keys_stale),
	};
	return cmocka_run_group_tests(tests, start_with_changes, stop_server);
}
