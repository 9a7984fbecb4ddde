#include "http/query.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void parameters_are_found_and_decoded(void **state)
{
	static const struct {
		const char *query, *name, *value;
		size_t count;
	} CASES[] = {
		{"a=1", "a", "1", 1},      {"a=1&b=2", "b", "2", 1},
		{"a=1&b=2", "c", NULL, 0}, {"", "a", NULL, 0},
		{"a", "a", "", 1},         {"a=", "a", "", 1},
		{"a=1&a=2", "a", "1", 2},  {"q=two+words%21", "q", "two words!", 1},
		{"%61=1", "a", "1", 1},    {"a=%C3%A9", "a", "\xC3\xA9", 1},
		{"a=%C3", "a", NULL, 1},   {"a=%00", "a", NULL, 1},
		{"a=%4", "a", NULL, 1},    {"a=%zz", "a", NULL, 1},
		{"&&a=1&", "a", "1", 1},   {"a=b=c", "a", "b=c", 1},
		{"aa=1", "a", NULL, 0},
	};
	(void)state;
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		size_t count = 99;
		const char *value = query_get(arena, CASES[i].query, strlen(CASES[i].query),
		                              CASES[i].name, &count);
		assert_int_equal(count, CASES[i].count);
		if (CASES[i].value)
			assert_string_equal(value, CASES[i].value);
		else
			assert_null(value);
	}
	assert_null(query_get(arena, NULL, 0, "a", NULL));
	arena_free(arena);
}

static void parameters_are_listed(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const char *at = "a=1&&b&c=%zz&d=%3E%3B+x&%C3=2";
	static const char *const EXPECTED[][2] = {{"a", "1"}, {"b", ""}, {"d", ">; x"}};
	struct query_param param;
	for (size_t i = 0; i < ARRAY_LEN(EXPECTED); i++) {
		assert_true(query_next(arena, &at, &param));
		assert_string_equal(param.name, EXPECTED[i][0]);
		assert_string_equal(param.value, EXPECTED[i][1]);
	}
	assert_false(query_next(arena, &at, &param));
	at = NULL;
	assert_false(query_next(arena, &at, &param));
	arena_free(arena);
}

static void all_parameters_are_read(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const char QUERY[] = "a=1&&b&c=%zz&%FF=2&=3&d=%3E+x=";
	static const struct query_param EXPECTED[] = {
		{"a", "1"}, {"b", ""}, {"c", NULL}, {NULL, "2"}, {"", "3"}, {"d", "> x="},
	};
	struct query_param *params;
	assert_int_equal(query_params(arena, QUERY, strlen(QUERY), &params), ARRAY_LEN(EXPECTED));
	for (size_t i = 0; i < ARRAY_LEN(EXPECTED); i++) {
		const char *const given[] = {params[i].name, params[i].value};
		const char *const expected[] = {EXPECTED[i].name, EXPECTED[i].value};
		for (size_t j = 0; j < ARRAY_LEN(given); j++) {
			assert_true(!given[j] == !expected[j]);
			if (given[j])
				assert_string_equal(given[j], expected[j]);
		}
	}
	assert_int_equal(query_params(arena, NULL, 0, &params), 0);
	assert_int_equal(query_params(arena, "&", 1, &params), 0);
	arena_free(arena);
}

static void reserved_characters_are_encoded(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	assert_string_equal(query_encode(arena, "a-b_c.d~9"), "a-b_c.d~9");
	assert_string_equal(query_encode(arena, "a b&c/\xC3\xA9"), "a%20b%26c%2F%C3%A9");
	assert_string_equal(query_encode(arena, ""), "");
	assert_string_equal(query_decode(arena, "a%20b%26c%2F%C3%A9+d~9", 22),
	                    "a b&c/\xC3\xA9+d~9");
	assert_string_equal(query_decode(arena, "%", 0), "");
	assert_null(query_decode(arena, "a%2", 3));
	assert_null(query_decode(arena, "%00", 3));
	assert_null(query_decode(arena, "%C3", 3));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_found_and_decoded),
		cmocka_unit_test(parameters_are_listed),
		cmocka_unit_test(all_parameters_are_read),
		cmocka_unit_test(reserved_characters_are_encoded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
