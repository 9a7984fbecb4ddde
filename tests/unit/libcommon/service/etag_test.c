#include "service/etag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_etag_versions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
