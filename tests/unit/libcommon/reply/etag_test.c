#include "reply/etag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* If-Match field -> versions that may be changed; `any` for every version. */
static const char *const CASES[][2] = {
	{"*", "any"},
	{" * ", "any"},
	{"\"5\"", "{5}"},
	{"\"5\", \"6\"", "{5,6}"},
	{"\"5\",\"6\"\t,  \"7\"", "{5,6,7}"},
	{",, \"5\" ,,", "{5}"},
	{"W/\"5\"", "{}"},
	{"W/\"5\", \"6\"", "{6}"},
	{"\"6\", W/\"5\"", "{6}"},
	{"w/\"5\"", "{}"},
	{"", "{}"},
	{"5", "{}"},
	{"5, \"6\"", "{6}"},
	{"*, \"6\"", "{6}"},
	{"**", "{}"},
	{"\"*\"", "{}"},
	{"\"5", "{}"},
	{"\"", "{}"},
	{"\"\"", "{}"},
	{"\"05\"", "{}"},
	{"\"+5\"", "{}"},
	{"\"-5\"", "{}"},
	{"\" 5\"", "{}"},
	{"\"5 \"", "{}"},
	{"\"0\"", "{}"},
	{"\"a,b\", \"6\"", "{6}"},
	{"\"}; DROP\"", "{}"},
	{"\"999999999999999999\"", "{999999999999999999}"},
	{"\"9999999999999999999\"", "{}"},
	{"\"5\"\"6\"", "{5}"},
	{"\"5-3f2a\"", "{5}"},
	{"\"5-gzip\", \"6-3f2a-gzip\"", "{5,6}"},
	{"\"-gzip\"", "{}"},
	{"\"5-\"", "{}"},
	{"\"5-XY\"", "{}"},
	{"\"5-a b\"", "{}"},
	{"\"-a\"", "{}"},
};

static void test_etag_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct arena *arena = arena_new();
		const char *versions = etag_versions(arena, CASES[i][0]);
		assert_string_equal(versions ? versions : "any", CASES[i][1]);
		arena_free(arena);
	}
}

static void test_etag_matches(void **state)
{
	static const struct {
		const char *field;
		bool is_match;
	} MATCHES[] = {
		{"*", true},
		{"\"a\"", true},
		{"W/\"a\"", true},
		{"\"b\", \"a\"", true},
		{"\"b\" , W/\"a\"", true},
		{"\"x,\\\"a\", \"a\"", true},
		{"\"b\", \"a-gzip\"", true},
		{"W/\"a-gzip\"", true},
		{"", false},
		{"a", false},
		{"*, \"b\"", false},
		{"\"-gzip\"", false},
		{"\"a-gzip-gzip\"", false},
		{"\"aa\"", false},
		{"\"b\"", false},
		{"\"A\"", false},
		{"\"b,\"", false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(MATCHES); i++)
		assert_true(etag_matches(MATCHES[i].field, "\"a\"") == MATCHES[i].is_match);
}

static void test_etag_of_content(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	assert_string_equal(etag_of_content(arena, "a", 1), etag_of_content(arena, "a", 1));
	assert_string_not_equal(etag_of_content(arena, "a", 1), etag_of_content(arena, "b", 1));
	assert_int_equal(strlen(etag_of_content(arena, "", 0)), 34);
	arena_free(arena);
}

static void test_etag_of_gzip(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const char *tag = etag_of_gzip(arena, "\"5-3f2a\"");
	assert_string_equal(tag, "\"5-3f2a-gzip\"");
	assert_true(etag_matches(tag, "\"5-3f2a\""));
	assert_string_equal(etag_of_gzip(arena, "W/\"5\""), "W/\"5\"");
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_etag_versions),
		cmocka_unit_test(test_etag_matches),
		cmocka_unit_test(test_etag_of_content),
		cmocka_unit_test(test_etag_of_gzip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
