#include "key/key_cache.h"

#include <uv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct key_cache *cache;
static struct arena *arena;
static struct identity found; /* by the last get_later() */

static const struct cache_version READ = {.monotonic_ms = 100000, .unix_ms = 500000};

static int setup(void **state)
{
	(void)state;
	cache = key_cache_new();
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	key_cache_free(cache);
	arena_free(arena);
	return 0;
}

/* The hash of the `number`-th key. */
static const uint8_t *hash_of(uint32_t number)
{
	static uint8_t hash[SHA256_LEN];
	memcpy(hash + 8, &number, sizeof(number));
	return hash;
}

static void put(uint32_t number, const struct identity *caller, int64_t expires_at_ms)
{
	const struct cached_key key = {.caller = *caller, .expires_at_ms = expires_at_ms};
	key_cache_put(cache, hash_of(number), &READ, &key);
}

static enum key_found get_later(uint32_t number, uint64_t later_ms)
{
	struct cache_version now = READ;
	now.monotonic_ms += later_ms;
	now.unix_ms += (int64_t)later_ms;
	return key_cache_get(cache, arena, hash_of(number), &now, &found);
}

static void an_entry_is_copied_and_found(void **state)
{
	(void)state;
	char repo[] = "o/r";
	const struct identity caller = {.account = {{1}},
	                                .key_id = {{2}},
	                                .kind = KEY_AUTOMATION,
	                                .scopes = 5,
	                                .repo = repo};
	assert_int_equal(get_later(1, 0), KEY_ABSENT);
	put(1, &caller, 0);
	repo[0] = 'x'; /* the entry has a copy */
	assert_int_equal(get_later(1, 0), KEY_FRESH);
	key_cache_drop(cache, hash_of(1)); /* and the arena another */
	assert_true(uuid_equal(&found.account, &caller.account));
	assert_true(uuid_equal(&found.key_id, &caller.key_id));
	assert_int_equal(found.kind, KEY_AUTOMATION);
	assert_int_equal(found.scopes, 5);
	assert_string_equal(found.repo, "o/r");
	assert_null(found.interest);
	assert_int_equal(get_later(2, 0), KEY_ABSENT);
}

static void a_second_put_replaces_the_entry(void **state)
{
	(void)state;
	put(1, &(struct identity){.scopes = 1, .interest = "a"}, 0);
	put(1, &(struct identity){.scopes = 2, .interest = "bcd"}, 0);
	assert_int_equal(key_cache_size(cache), 1);
	assert_int_equal(get_later(1, 0), KEY_FRESH);
	assert_int_equal(found.scopes, 2);
	assert_string_equal(found.interest, "bcd");
}

/* Two workers read the same key; the one that began first ends last. */
static void an_older_read_does_not_replace_a_newer_one(void **state)
{
	(void)state;
	struct cache_version newer = READ;
	newer.changes++;
	key_cache_put(cache, hash_of(1), &newer, &(struct cached_key){.caller.scopes = 2});
	put(1, &(struct identity){.scopes = 1}, 0);
	assert_int_equal(key_cache_get(cache, arena, hash_of(1), &newer, &found), KEY_FRESH);
	assert_int_equal(found.scopes, 2);
}

static void entries_become_stale(void **state)
{
	(void)state;
	put(1, &(struct identity){0}, 0);
	assert_int_equal(get_later(1, KEY_UNSURE_MS - 1), KEY_FRESH);
	assert_int_equal(get_later(1, KEY_UNSURE_MS), KEY_STALE);
	key_cache_confirm(cache, READ.monotonic_ms + KEY_CACHE_MS - 1);
	assert_int_equal(get_later(1, KEY_UNSURE_MS), KEY_FRESH);
	assert_int_equal(get_later(1, KEY_REFRESH_MS - 1), KEY_FRESH);
	assert_int_equal(get_later(1, KEY_CACHE_MS), KEY_STALE);
}

static void one_caller_a_second_is_told_to_refresh(void **state)
{
	(void)state;
	put(1, &(struct identity){0}, 0);
	key_cache_confirm(cache, READ.monotonic_ms + KEY_REFRESH_MS);
	assert_int_equal(get_later(1, KEY_REFRESH_MS), KEY_AGING);
	assert_int_equal(get_later(1, KEY_REFRESH_MS), KEY_FRESH);
	assert_int_equal(get_later(1, KEY_REFRESH_MS + 999), KEY_FRESH);
	assert_int_equal(get_later(1, KEY_REFRESH_MS + 1000), KEY_AGING);
}

static void expired_keys_are_stale(void **state)
{
	(void)state;
	put(1, &(struct identity){0}, READ.unix_ms + 10);
	assert_int_equal(get_later(1, 9), KEY_FRESH);
	assert_int_equal(get_later(1, 10), KEY_STALE);
}

/* What the cache has of a session that shows account 1, with a key of account 2, of person 3. It is
 * read again. */
static enum key_found get_after_change(const struct uuid *subject)
{
	const struct cached_key key = {.caller.account = {{[15] = 1}},
	                               .key_account = {{[15] = 2}},
	                               .person = {{[15] = 3}}};
	struct cache_version now = READ;
	now.changes = key_cache_now(cache).changes;
	key_cache_put(cache, hash_of(1), &now, &key);
	assert_int_equal(get_later(1, 0), KEY_FRESH);
	key_cache_change(cache, subject);
	return get_later(1, 0);
}

static void a_change_makes_entries_of_its_subject_stale(void **state)
{
	(void)state;
	for (uint8_t number = 1; number <= 3; number++)
		assert_int_equal(get_after_change(&(struct uuid){{[15] = number}}), KEY_STALE);
	assert_int_equal(get_after_change(&(struct uuid){{[15] = 4}}), KEY_FRESH);
	assert_int_equal(get_after_change(NULL), KEY_STALE);
	assert_int_equal(key_cache_now(cache).changes, 5);
}

/* A read that began before a change may have found what was there before. */
static void a_read_before_a_change_is_stale(void **state)
{
	(void)state;
	key_cache_change(cache, &(struct uuid){{[15] = 1}});
	put(1, &(struct identity){.account = {{[15] = 1}}}, 0);
	assert_int_equal(get_later(1, 0), KEY_STALE);
}

/* All these keys have the same shard and hash value. */
static void dropping_one_key_keeps_the_others(void **state)
{
	(void)state;
	for (uint32_t number = 1; number <= 3; number++)
		put(number, &(struct identity){.scopes = number}, 0);
	key_cache_drop(cache, hash_of(2));
	key_cache_drop(cache, hash_of(9));
	assert_int_equal(get_later(2, 0), KEY_ABSENT);
	assert_int_equal(get_later(1, 0), KEY_FRESH);
	assert_int_equal(found.scopes, 1);
	assert_int_equal(get_later(3, 0), KEY_FRESH);
	assert_int_equal(found.scopes, 3);
	assert_int_equal(key_cache_size(cache), 2);
}

static void a_full_cache_removes_what_was_read_first(void **state)
{
	(void)state;
	uint8_t hash[SHA256_LEN];
	const struct cached_key key = {0};
	const uint32_t first = 0;
	for (uint32_t number = first; number < 200000; number++) {
		sha256(&number, sizeof(number), hash);
		key_cache_put(cache, hash, &READ, &key);
	}
	assert_int_equal(key_cache_size(cache), 65536);
	assert_int_equal(key_cache_get(cache, arena, hash, &READ, &found), KEY_FRESH);
	sha256(&first, sizeof(first), hash);
	assert_int_equal(key_cache_get(cache, arena, hash, &READ, &found), KEY_ABSENT);
}

#define THREADS 4

/* Put, get and drop the same few keys from several threads. */
static void use_cache(void *arg)
{
	struct arena *own = arena_new();
	uint8_t hash[SHA256_LEN] = {0};
	const struct cached_key key = {.caller.repo = "owner/name"};
	struct identity out;
	(void)arg;
	for (int i = 0; i < 20000; i++) {
		hash[0] = (uint8_t)(i % 7);
		key_cache_put(cache, hash, &READ, &key);
		if (key_cache_get(cache, own, hash, &READ, &out) == KEY_FRESH)
			assert_string_equal(out.repo, "owner/name");
		if (i % 3 == 0)
			key_cache_drop(cache, hash);
	}
	arena_free(own);
}

static void threads_share_it(void **state)
{
	uv_thread_t threads[THREADS];
	(void)state;
	for (int i = 0; i < THREADS; i++)
		uv_thread_create(&threads[i], use_cache, NULL);
	for (int i = 0; i < THREADS; i++)
		uv_thread_join(&threads[i]);
	assert_in_range(key_cache_size(cache), 0, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_entry_is_copied_and_found),
		TEST(a_second_put_replaces_the_entry),
		TEST(an_older_read_does_not_replace_a_newer_one),
		TEST(entries_become_stale),
		TEST(one_caller_a_second_is_told_to_refresh),
		TEST(expired_keys_are_stale),
		TEST(a_change_makes_entries_of_its_subject_stale),
		TEST(a_read_before_a_change_is_stale),
		TEST(dropping_one_key_keeps_the_others),
		TEST(a_full_cache_removes_what_was_read_first),
		TEST(threads_share_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
