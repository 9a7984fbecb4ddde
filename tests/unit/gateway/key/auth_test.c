/* Keys asked of a real server: what has to be waited for, and what has not. */
#include "key/auth.h"

#include "key/key_text.h"
#include "pg_suite.h"

#include <stdio.h>

/* What became of one call. */
struct asked {
	enum err_code code;
	struct auth_wait *wait;
	struct identity caller;
	bool is_done;
};

static struct auth *auth;
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
	                        "deleted_at timestamptz)");
	snprintf(row, sizeof(row),
	         "INSERT INTO api_key VALUES ('01000000-0000-7000-8000-000000000000', "
	         "'02000000-0000-7000-8000-000000000000', 'automation', '{search:read}', 'o/r', "
	         "NULL, '\\x%s', now() + interval '1 day')",
	         hex);
	pg_fixture_run(&server, row);
	return 0;
}

/* The second worker, which does not listen to Redis. */
static int setup(void **state)
{
	(void)state;
	open_pool(&(struct pg_settings){.url = server.url});
	fixture.worker.index = 1;
	auth = auth_new(&fixture.worker);
	return 0;
}

static int end(void **state)
{
	auth_free(auth);
	return teardown(state);
}

static void on_done(void *context, enum err_code code, const struct identity *caller)
{
	struct asked *asked = context;
	assert_false(asked->is_done);
	assert_true((code == ERR_NONE) == (caller != NULL));
	asked->is_done = true;
	asked->code = code;
	if (caller != NULL)
		asked->caller = *caller;
}

static void ask(struct asked *asked, const char *key)
{
	*asked = (struct asked){0};
	asked->code = auth_check(auth, key, &asked->caller, &asked->wait, on_done, asked);
}

/* It must be waited for. */
static void ask_and_wait(struct asked *asked, const char *key)
{
	ask(asked, key);
	assert_non_null(asked->wait);
	assert_false(asked->is_done);
	fixture_idle(&fixture);
	assert_true(asked->is_done);
}

static void malformed_keys_are_refused_at_once(void **state)
{
	static const char *const KEYS[] = {NULL, "", "usr_", "usr_x", "Bearer"};
	(void)state;
	struct asked asked;
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
		ask(&asked, KEYS[i]);
		assert_int_equal(asked.code, ERR_UNAUTHENTICATED);
		assert_null(asked.wait);
	}
}

static void unknown_keys_are_refused_each_time(void **state)
{
	(void)state;
	struct asked asked;
	for (int i = 0; i < 2; i++) {
		ask_and_wait(&asked, unknown);
		assert_int_equal(asked.code, ERR_UNAUTHENTICATED);
	}
}

static void good_keys_are_waited_for_once(void **state)
{
	(void)state;
	struct asked asked;
	ask_and_wait(&asked, good);
	assert_int_equal(asked.code, ERR_NONE);
	assert_int_equal(asked.caller.account.bytes[0], 1);
	assert_int_equal(asked.caller.kind, KEY_AUTOMATION);
	ask(&asked, good);
	assert_null(asked.wait);
	assert_int_equal(asked.code, ERR_NONE);
	assert_int_equal(asked.caller.key_id.bytes[0], 2);
	assert_string_equal(asked.caller.repo, "o/r");
}

static void those_who_come_meanwhile_join(void **state)
{
	(void)state;
	struct asked first, second, gone;
	ask(&first, good);
	ask(&gone, good);
	auth_cancel(gone.wait);
	ask(&second, good);
	assert_int_equal(request_list_count(fixture.worker.requests), 1);
	fixture_idle(&fixture);
	assert_true(first.is_done && second.is_done && !gone.is_done);
	assert_int_equal(first.code, ERR_NONE);
	assert_int_equal(second.caller.key_id.bytes[0], 2);
}

/* A pool that is being freed refuses at once: the look-up has ended before auth_check() returns. */
static void an_answer_that_is_there_is_returned(void **state)
{
	(void)state;
	struct asked asked, waiting;
	struct pg_pool *pool = fixture.worker.pg;
	pg_pool_free(pool);
	for (int i = 0; i < 2; i++) {
		ask(&asked, good);
		assert_int_equal(asked.code, ERR_UNAVAILABLE);
		assert_null(asked.wait);
		assert_false(asked.is_done);
	}
	fixture.worker.pg =
		pg_pool_new(&fixture.worker.loop, &(struct pg_settings){.url = server.url});
	ask_and_wait(&waiting, good);
	assert_int_equal(waiting.code, ERR_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(malformed_keys_are_refused_at_once),  TEST(unknown_keys_are_refused_each_time),
		TEST(good_keys_are_waited_for_once),       TEST(those_who_come_meanwhile_join),
		TEST(an_answer_that_is_there_is_returned),
	};
	return cmocka_run_group_tests(tests, start_with_keys, stop_server);
}
