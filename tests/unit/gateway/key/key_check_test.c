/* With a real Postgres: which results key_check() returns at once, and which it delivers later. */
#include "key/key_check.h"

#include "gateway_process.h"
#include "key/key_text.h"
#include "limit/rate_limit.h"
#include "pg_suite.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOOKUP_LIMIT      20 /* a second, for each client */
#define LESS_THAN_A_STACK ((rlim_t)100 << 10)

/* One call and its result. */
struct check {
	enum err_code code;
	struct key_wait *wait;
	struct identity caller;
	bool is_done;
};

static struct gateway_process gateway;
static struct key_checker *checker;
static struct arena *arena;
static char good[KEY_TEXT_MAX + 1], unknown[KEY_TEXT_MAX + 1];

static int start_with_keys(void **state)
{
	uint8_t hash[SHA256_LEN];
	char row[400], hex[2 * SHA256_LEN + 1];
	start_server(state);
	key_text_make(KEY_AUTOMATION, good);
	key_text_make(KEY_PERSONAL, unknown);
	key_text_hash(good, hash);
	for (size_t i = 0; i < SHA256_LEN; i++)
		snprintf(hex + 2 * i, 3, "%02x", hash[i]);
	pg_fixture_run(&server, "CREATE TABLE api_key (account_id uuid, id uuid, kind text, scopes "
	                        "text[], repo text, interest_id uuid, hash bytea, expires_at "
	                        "timestamptz, last_used_at timestamptz, revoked_at timestamptz, "
	                        "deleted_at timestamptz, repo_verified boolean DEFAULT true)");
	pg_fixture_run(&server, "CREATE TABLE api_key_person (key_id uuid, person_id uuid)");
	pg_fixture_run(&server, "CREATE TABLE person (id uuid, is_operator boolean DEFAULT false, "
	                        "disabled_at timestamptz)");
	pg_fixture_run(&server, "CREATE TABLE member (account_id uuid, person_id uuid, role text)");
	snprintf(row, sizeof(row),
	         "INSERT INTO api_key VALUES ('01000000-0000-7000-8000-000000000000', "
	         "'02000000-0000-7000-8000-000000000000', 'automation', '{search:read}', 'o/r', "
	         "NULL, '\\x%s', now() + interval '1 day')",
	         hex);
	pg_fixture_run(&server, row);
	return 0;
}

/* Worker 1: it does not subscribe to Redis. */
static int setup(void **state)
{
	(void)state;
	open_pool(&(struct pg_settings){.url = server.url});
	fixture.worker.index = 1;
	fixture.process.user = &gateway;
	gateway.keys = key_cache_new();
	gateway.lookups = rate_limiter_new(LOOKUP_LIMIT);
	arena = arena_new();
	checker = key_checker_new(&fixture.worker);
	return 0;
}

static int end(void **state)
{
	key_checker_free(checker);
	key_checkers_stop(&gateway);
	arena_free(arena);
	return teardown(state);
}

static void on_done(void *context, enum err_code code, const struct identity *caller)
{
	struct check *check = context;
	assert_false(check->is_done);
	assert_true((code == ERR_NONE) == (caller != NULL));
	check->is_done = true;
	check->code = code;
	if (caller)
		check->caller = *caller;
}

static void start_from(struct check *check, const char *key, const char *client)
{
	*check = (struct check){0};
	check->code = key_check(checker,
	                        &(struct key_query){.arena = arena, .text = key, .client = client},
	                        &check->caller, &check->wait, on_done, check);
}

static void start(struct check *check, const char *key)
{
	start_from(check, key, "192.0.2.1");
}

/* Check a key whose result is delivered later, and wait for it. */
static void start_and_wait(struct check *check, const char *key)
{
	start(check, key);
	assert_non_null(check->wait);
	assert_false(check->is_done);
	fixture_idle(&fixture);
	assert_true(check->is_done);
}

static void malformed_keys_are_refused_at_once(void **state)
{
	static const char *const KEYS[] = {"", "usr_", "usr_x", "Bearer"};
	(void)state;
	struct check check;
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
		start(&check, KEYS[i]);
		assert_int_equal(check.code, ERR_UNAUTHENTICATED);
		assert_null(check.wait);
	}
}

static void unknown_keys_are_not_cached(void **state)
{
	(void)state;
	struct check check;
	for (int i = 0; i < 2; i++) {
		start_and_wait(&check, unknown);
		assert_int_equal(check.code, ERR_UNAUTHENTICATED);
	}
}

static void valid_keys_are_cached(void **state)
{
	(void)state;
	struct check check;
	start_and_wait(&check, good);
	assert_int_equal(check.code, ERR_NONE);
	assert_int_equal(check.caller.account.bytes[0], 1);
	assert_int_equal(check.caller.kind, KEY_AUTOMATION);
	start(&check, good);
	assert_null(check.wait);
	assert_int_equal(check.code, ERR_NONE);
	assert_int_equal(check.caller.key_id.bytes[0], 2);
	assert_string_equal(check.caller.repo, "o/r");
	assert_true(check.caller.is_repo_verified);
}

static void concurrent_checks_share_one_lookup(void **state)
{
	(void)state;
	struct check first, second, cancelled;
	start(&first, good);
	start(&cancelled, good);
	key_check_cancel(cancelled.wait);
	start(&second, good);
	assert_int_equal(request_list_count(fixture.worker.requests), 1);
	fixture_idle(&fixture);
	assert_true(first.is_done && second.is_done && !cancelled.is_done);
	assert_int_equal(first.code, ERR_NONE);
	assert_int_equal(second.caller.key_id.bytes[0], 2);
}

/* A change of a key while a lookup runs: its result may be outdated, so the next check does not use
 * it. */
static void a_change_starts_a_new_lookup(void **state)
{
	(void)state;
	struct check before, after;
	start(&before, good);
	key_cache_change(gateway.keys, NULL);
	start(&after, good);
	assert_int_equal(request_list_count(fixture.worker.requests), 2);
	fixture_idle(&fixture);
	assert_true(before.is_done && after.is_done);
	start(&after, good);
	assert_null(after.wait);
	key_cache_change(gateway.keys, NULL);
	start_and_wait(&after, good);
	assert_int_equal(after.code, ERR_NONE);
}

/* Store a key as it was read some time ago, of account 9. */
static void store_aged(const char *key)
{
	uint8_t hash[SHA256_LEN];
	struct cache_version read = key_cache_now(gateway.keys);
	key_cache_confirm(gateway.keys, read.monotonic_ms);
	read.monotonic_ms -= KEY_REFRESH_MS;
	key_text_hash(key, hash);
	key_cache_put(gateway.keys, hash, &read,
	              &(struct cached_key){.caller.account = {{9}}, .key_account = {{9}}});
}

static void check_at_once(const char *key, uint8_t account)
{
	struct check check;
	start(&check, key);
	assert_null(check.wait);
	assert_int_equal(check.code, ERR_NONE);
	assert_int_equal(check.caller.account.bytes[0], account);
}

static void keys_in_use_are_read_again_together(void **state)
{
	(void)state;
	struct check check;
	store_aged(good);
	store_aged(unknown);
	check_at_once(good, 9);
	check_at_once(unknown, 9);
	assert_int_equal(request_list_count(fixture.worker.requests), 1);
	fixture_idle(&fixture);
	check_at_once(good, 1);
	start_and_wait(&check, unknown);
	assert_int_equal(check.code, ERR_UNAUTHENTICATED);
}

static void a_key_that_cannot_be_read_again_stays(void **state)
{
	(void)state;
	store_aged(unknown);
	check_at_once(unknown, 9);
	pg_fixture_run(&server, "ALTER TABLE api_key RENAME TO hidden");
	fixture_idle(&fixture);
	pg_fixture_run(&server, "ALTER TABLE hidden RENAME TO api_key");
	check_at_once(unknown, 9);
	fixture_idle(&fixture);
}

/* A pool that is being freed refuses every statement at once. */
static void a_failed_lookup_refuses_the_key(void **state)
{
	(void)state;
	struct check check;
	pg_pool_free(fixture.worker.pg);
	start_and_wait(&check, good);
	assert_int_equal(check.code, ERR_UNAVAILABLE);
	fixture.worker.pg =
		pg_pool_new(&fixture.worker.loop, &(struct pg_settings){.url = server.url});
	start_and_wait(&check, good);
	assert_int_equal(check.code, ERR_NONE);
}

/* Make checks of unknown keys until one is refused; returns its code. */
static enum err_code exhaust(const char *client, struct check *checks)
{
	char key[KEY_TEXT_MAX + 1];
	for (int i = 0; i < 2 * LOOKUP_LIMIT; i++) {
		key_text_make(KEY_PERSONAL, key);
		start_from(&checks[i], key, client);
		if (checks[i].code)
			return checks[i].code;
	}
	return ERR_NONE;
}

static void unknown_keys_of_a_client_are_limited(void **state)
{
	(void)state;
	static struct check checks[2 * LOOKUP_LIMIT];
	struct check check;
	start_and_wait(&check, good);
	assert_int_equal(exhaust("2001:db8::1", checks), ERR_RATE_LIMITED);
	/* The address is in the same /64. */
	start_from(&check, unknown, "2001:db8::ffff:2");
	assert_int_equal(check.code, ERR_RATE_LIMITED);
	/* A key that is known is accepted from everywhere, also when its entry is stale. */
	start_from(&check, good, "2001:db8::1");
	assert_int_equal(check.code, ERR_NONE);
	assert_null(check.wait);
	key_cache_change(gateway.keys, NULL);
	start_from(&check, good, "2001:db8::1");
	assert_non_null(check.wait);
	struct check other;
	start_from(&other, unknown, "2001:db8:0:1::1");
	assert_non_null(other.wait);
	fixture_idle(&fixture);
	assert_int_equal(check.code, ERR_NONE);
	assert_int_equal(other.code, ERR_UNAUTHENTICATED);
	assert_int_equal(gateway.unknown_lookups, 0);
}

/* The key was never seen before, so its look-up takes a token; since it is valid, it gives it
 * back. */
static void valid_keys_do_not_use_up_the_limit(void **state)
{
	(void)state;
	struct check check;
	for (int i = 0; i < 2 * LOOKUP_LIMIT; i++) {
		key_cache_free(gateway.keys);
		gateway.keys = key_cache_new();
		start_and_wait(&check, good);
		assert_int_equal(check.code, ERR_NONE);
	}
}

static void running_lookups_of_unknown_keys_are_bounded(void **state)
{
	(void)state;
	struct check check;
	gateway.unknown_lookups = KEY_LOOKUPS_MAX;
	start(&check, unknown);
	assert_int_equal(check.code, ERR_UNAVAILABLE);
	gateway.unknown_lookups--;
	start(&check, unknown);
	assert_non_null(check.wait);
	fixture_idle(&fixture);
	gateway.unknown_lookups = 0;
}

static void workers_share_the_cache(void **state)
{
	(void)state;
	struct check check;
	struct key_checker *first = checker;
	start_and_wait(&check, good);
	checker = key_checker_new(&fixture.worker);
	start(&check, good);
	assert_null(check.wait);
	assert_int_equal(check.code, ERR_NONE);
	key_checker_free(checker);
	checker = first;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)

/* The memory that is mapped, in bytes. */
static rlim_t mapped_bytes(void)
{
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void a_look_up_that_cannot_start_is_refused(void **state)
{
	(void)state;
	struct check check;
	struct rlimit before, little;
	fiber_thread_free(); /* no pooled stack */
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	little = (struct rlimit){mapped_bytes() + LESS_THAN_A_STACK, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	start(&check, good);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(check.code, ERR_UNAVAILABLE);
	assert_null(check.wait);
	assert_false(check.is_done);
	assert_int_equal(gateway.unknown_lookups, 0);
	start_and_wait(&check, good);
	assert_int_equal(check.code, ERR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(malformed_keys_are_refused_at_once),
		TEST(unknown_keys_are_not_cached),
		TEST(valid_keys_are_cached),
		TEST(concurrent_checks_share_one_lookup),
		TEST(a_change_starts_a_new_lookup),
		TEST(keys_in_use_are_read_again_together),
		TEST(a_key_that_cannot_be_read_again_stays),
		TEST(a_failed_lookup_refuses_the_key),
		TEST(unknown_keys_of_a_client_are_limited),
		TEST(valid_keys_do_not_use_up_the_limit),
		TEST(running_lookups_of_unknown_keys_are_bounded),
		TEST(a_look_up_that_cannot_start_is_refused),
		TEST(workers_share_the_cache),
	};
	return cmocka_run_group_tests(tests, start_with_keys, stop_server);
}
