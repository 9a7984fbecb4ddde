#include "product/ref_name.h"

#include "arena_fixture.h"

#include <string.h>

static void names_are_checked_as_git_does(void **state)
{
	(void)state;
	static const char *const GOOD[] = {"main",  "expops/agent", "a.b", "x@y", "ž",
	                                   "a-b_c", "v1.0",         "@a",  "a{b"};
	static const char *const BAD[] = {
		"",     "@",      "-x",   "/x",   "x/",    ".x",       "x.",    "a..b", "a//b",
		"a/.b", "a.lock", "a b",  "a~b",  "a^b",   "a:b",      "a?b",   "a*b",  "a[b",
		"a\\b", "a@{b",   "a\tb", "a\nb", "a\x7f", "a.lock/b", "a\x01",
	};
	const char *message;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
		assert_true(ref_name_check(GOOD[i], strlen(GOOD[i]), &message));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		assert_false(ref_name_check(BAD[i], strlen(BAD[i]), &message));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_checked_as_git_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
