#include "embeddings/query_cache.h"

#include "arena_fixture.h"

#include <stdlib.h>
#include <string.h>

static void put(struct query_cache *cache, const char *text, float value)
{
	float vector[2] = {value, value};
	query_cache_put(cache, text, vector, 2);
}

/* The first element of the cached vector; -1: not cached. */
static float get(const struct query_cache *cache, const char *text)
{
	uint32_t dimension = 0;
	const float *vector = query_cache_get(cache, text, &dimension);
	if (!vector)
		return -1;
	assert_int_equal(dimension, 2);
	return vector[0];
}

static void test_the_oldest_entry_is_replaced(void **state)
{
	struct query_cache *cache = query_cache_new();
	(void)state;
	assert_true(get(cache, "0") < 0);
	for (int i = 0; i <= QUERY_CACHE_ENTRIES; i++)
		put(cache, arena_printf(arena, "%d", i), (float)i);
	assert_true(get(cache, "0") < 0);
	for (int i = 1; i <= QUERY_CACHE_ENTRIES; i++)
		assert_true(get(cache, arena_printf(arena, "%d", i)) == (float)i);
	assert_true(get(cache, "") < 0);
	query_cache_free(cache);
	query_cache_free(NULL);
}

static void test_long_texts_are_not_stored(void **state)
{
	struct query_cache *cache = query_cache_new();
	char *text = arena_alloc(arena, QUERY_CACHE_TEXT_MAX + 2);
	(void)state;
	memset(text, 'a', QUERY_CACHE_TEXT_MAX);
	put(cache, text, 1);
	assert_true(get(cache, text) == 1);
	text[QUERY_CACHE_TEXT_MAX] = 'a';
	put(cache, text, 2);
	assert_true(get(cache, text) < 0);
	query_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_the_oldest_entry_is_replaced),
		ARENA_TEST(test_long_texts_are_not_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
