#include "key/key_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct key_cache *cache;

static const struct cache_version READ = {.generation = 7,
                                          .monotonic_ms = 100000,
                                          .unix_ms = 500000};

static int setup(void **state)
{
	(void)state;
	cache = key_cache_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	key_cache_free(cache);
	return 0;
}

/* The hash of the `number`-th key. */
static const uint8_t *hash_of(uint32_t number)
{
	static uint8_t hash[SHA256_LEN];
	memcpy(hash + SHA256_LEN - sizeof(number), &number, sizeof(number));
	return hash;
}

static void put(uint32_t number, const struct identity *caller, int64_t expires_at_ms)
{
	key_cache_put(cache, hash_of(number), &READ, caller, expires_at_ms);
}

static const struct identity *get_later(uint32_t number, uint64_t later_ms, uint64_t age_ms)
{
	struct cache_version now = READ;
	now.monotonic_ms += later_ms;
	now.unix_ms += (int64_t)later_ms;
	return key_cache_get(cache, hash_of(number), &now, age_ms);
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
	assert_null(get_later(1, 0, KEY_CACHE_MS));
	put(1, &caller, 0);
	repo[0] = 'x'; /* the entry has a copy */
	const struct identity *known = get_later(1, 0, KEY_CACHE_MS);
	assert_non_null(known);
	assert_true(uuid_equal(&known->account, &caller.account));
	assert_true(uuid_equal(&known->key_id, &caller.key_id));
	assert_int_equal(known->kind, KEY_AUTOMATION);
	assert_int_equal(known->scopes, 5);
	assert_string_equal(known->repo, "o/r");
	assert_null(known->interest);
	assert_null(get_later(2, 0, KEY_CACHE_MS));
}

static void a_second_put_replaces_the_entry(void **state)
{
	(void)state;
	put(1, &(struct identity){.scopes = 1, .interest = "a"}, 0);
	put(1, &(struct identity){.scopes = 2, .interest = "bcd"}, 0);
	assert_int_equal(key_cache_size(cache), 1);
	assert_int_equal(get_later(1, 0, KEY_CACHE_MS)->scopes, 2);
	assert_string_equal(get_later(1, 0, KEY_CACHE_MS)->interest, "bcd");
}

static void entries_become_stale(void **state)
{
	(void)state;
	put(1, &(struct identity){0}, 0);
	assert_non_null(get_later(1, KEY_CACHE_MS - 1, KEY_CACHE_MS));
	assert_null(get_later(1, KEY_CACHE_MS, KEY_CACHE_MS));
	assert_null(get_later(1, KEY_CACHE_MS, UINT64_MAX));
	assert_non_null(get_later(1, 9, 10));
	assert_null(get_later(1, 10, 10));
}

static void expired_keys_are_stale(void **state)
{
	(void)state;
	put(1, &(struct identity){0}, READ.unix_ms + 10);
	assert_non_null(get_later(1, 9, KEY_CACHE_MS));
	assert_null(get_later(1, 10, KEY_CACHE_MS));
}

static void a_new_generation_makes_entries_stale(void **state)
{
	(void)state;
	struct cache_version now = READ;
	put(1, &(struct identity){0}, 0);
	now.generation++;
	assert_null(key_cache_get(cache, hash_of(1), &now, KEY_CACHE_MS));
	key_cache_put(cache, hash_of(1), &now, &(struct identity){0}, 0);
	assert_non_null(key_cache_get(cache, hash_of(1), &now, KEY_CACHE_MS));
}

/* All these keys have the same hash value. */
static void dropping_one_key_keeps_the_others(void **state)
{
	(void)state;
	for (uint32_t number = 1; number <= 3; number++)
		put(number, &(struct identity){.scopes = number}, 0);
	key_cache_drop(cache, hash_of(2));
	key_cache_drop(cache, hash_of(9));
	assert_null(get_later(2, 0, KEY_CACHE_MS));
	assert_int_equal(get_later(1, 0, KEY_CACHE_MS)->scopes, 1);
	assert_int_equal(get_later(3, 0, KEY_CACHE_MS)->scopes, 3);
	assert_int_equal(key_cache_size(cache), 2);
}

static void a_full_cache_removes_stale_entries(void **state)
{
	(void)state;
	uint8_t hash[SHA256_LEN] = {0};
	const struct identity caller = {0};
	struct cache_version now = READ;
	for (uint32_t number = 0; number < 65536; number++) {
		memcpy(hash, &number, sizeof(number));
		key_cache_put(cache, hash, &READ, &caller, 0);
	}
	assert_int_equal(key_cache_size(cache), 65536);
	now.monotonic_ms += KEY_CACHE_MS;
	memset(hash, 0xff, sizeof(hash));
	key_cache_put(cache, hash, &now, &caller, 0);
	assert_int_equal(key_cache_size(cache), 1);
	assert_non_null(key_cache_get(cache, hash, &now, KEY_CACHE_MS));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_entry_is_copied_and_found),
		TEST(a_second_put_replaces_the_entry),
		TEST(entries_become_stale),
		TEST(expired_keys_are_stale),
		TEST(a_new_generation_makes_entries_stale),
		TEST(dropping_one_key_keeps_the_others),
		TEST(a_full_cache_removes_stale_entries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
