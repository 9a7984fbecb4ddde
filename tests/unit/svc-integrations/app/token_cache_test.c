#include "app/token_cache.h"

#include "arena_fixture.h"

#include <string.h>

#define NOW_MS  INT64_C(1767225600000)
#define HOUR_MS INT64_C(3600000)

/* The token that is given out for a use; NULL: none. */
static const char *found(const char *use, int64_t now_ms)
{
	struct cached_token token;
	return token_cache_get(arena, use, now_ms, &token) ? token.token : NULL;
}

static void keep(const char *use, const char *token)
{
	token_cache_put(use, &(struct cached_token){token, 7}, NOW_MS + HOUR_MS, NOW_MS);
}

static void a_token_is_for_its_use(void **state)
{
	(void)state;
	struct cached_token token;
	keep("9 a read", "ghs_read");
	keep("9 a write", "ghs_write");
	assert_true(token_cache_get(arena, "9 a read", NOW_MS, &token));
	assert_string_equal(token.token, "ghs_read");
	assert_int_equal(token.made_ms, 7);
	assert_string_equal(found("9 a write", NOW_MS), "ghs_write");
	assert_null(found("9 b read", NOW_MS));
}

static void a_token_ends_five_minutes_early(void **state)
{
	(void)state;
	keep("9 ends", "ghs_ends");
	assert_non_null(found("9 ends", NOW_MS + HOUR_MS - 300001));
	assert_null(found("9 ends", NOW_MS + HOUR_MS - 300000));
	assert_null(found("9 ends", NOW_MS));
	token_cache_put("9 soon", &(struct cached_token){"ghs_soon", 7}, NOW_MS + 300000, NOW_MS);
	assert_null(found("9 soon", NOW_MS));
}

static void a_refused_token_is_dropped_and_no_later_one(void **state)
{
	(void)state;
	keep("9 refused", "ghs_first");
	token_cache_drop("9 refused", "ghs_first");
	assert_null(found("9 refused", NOW_MS));
	keep("9 refused", "ghs_second");
	token_cache_drop("9 refused", "ghs_first");
	assert_string_equal(found("9 refused", NOW_MS), "ghs_second");
}

static void those_used_last_are_kept(void **state)
{
	(void)state;
	keep("first", "ghs_first");
	keep("second", "ghs_second");
	for (int i = 0; i < 255; i++) {
		keep(arena_printf(arena, "use %d", i), "ghs_x");
		assert_non_null(found("first", NOW_MS));
	}
	assert_null(found("second", NOW_MS));
}

static void a_token_that_is_too_long_is_not_kept(void **state)
{
	(void)state;
	char *text = arena_alloc(arena, 1025);
	memset(text, 'x', 1024);
	keep("long", text);
	assert_null(found("long", NOW_MS));
	text[1023] = '\0';
	keep("long", text);
	assert_string_equal(found("long", NOW_MS), text);
}

static void the_remedy_goes_by_the_age_of_the_token(void **state)
{
	(void)state;
	static const struct {
		int status;
		int64_t age_ms;
		unsigned waits;
		enum token_remedy remedy;
	} CASES[] = {
		{401, 0, 0, TOKEN_USE_AGAIN},
		{401, 4999, 0, TOKEN_USE_AGAIN},
		{401, 5000, 0, TOKEN_REPLACE},
		{401, 3000000, 0, TOKEN_REPLACE},
		/* The waits count, however long they took. */
		{401, 20000, 1, TOKEN_USE_AGAIN},
		{401, 20000, 2, TOKEN_DROP},
		{404, 59999, 0, TOKEN_IS_RIGHT},
		{403, 60000, 0, TOKEN_COMPARE},
		{404, 1199999, 0, TOKEN_COMPARE},
		{404, 1200000, 0, TOKEN_TRY_ANOTHER},
	};
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_int_equal(token_remedy_of(CASES[i].status, CASES[i].age_ms, CASES[i].waits),
		                 CASES[i].remedy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(a_token_is_for_its_use),
		ARENA_TEST(a_token_ends_five_minutes_early),
		ARENA_TEST(a_refused_token_is_dropped_and_no_later_one),
		ARENA_TEST(those_used_last_are_kept),
		ARENA_TEST(a_token_that_is_too_long_is_not_kept),
		cmocka_unit_test(the_remedy_goes_by_the_age_of_the_token),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
