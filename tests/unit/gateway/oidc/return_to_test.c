#include "oidc/return_to.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool is_taken(const char *text)
{
	const char *message;
	return return_to_check(text, strlen(text), &message);
}

static void paths_of_the_console_are_taken(void **state attr_unused)
{
	assert_true(is_taken("/console/"));
	assert_true(is_taken("/console/agents/acme/chart.js?page=2&q=a%20b"));
	assert_true(is_taken("/console/agents/acme/.github"));
	assert_true(is_taken("/console/settings?q=https%3A%2F%2Fexample.org"));
}

static void others_are_refused(void **state attr_unused)
{
	static const char *const OTHERS[] = {
		"",
		"/",
		"/console",
		"console/",
		"/consolex/",
		"https://evil.example.org/console/",
		"//evil.example.org/console/",
		"/\\evil.example.org/console/",
		"/console//evil.example.org",
		"/console/\\evil.example.org",
		"/console/%5cevil.example.org",
		"/console/../api/v1.0/session",
		"/console/..",
		"/console/..?a",
		"/console/.",
		"/console/./a",
		"/console/%2e%2e/api",
		"/console/%2E%2E/api",
		"/console/\ta",
		"/console/a b",
		"/console/a\r\nSet-Cookie: a=b",
		"/console/\x7f",
		"/console/\xc3\xa9",
		" /console/",
	};
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++)
		assert_false(is_taken(OTHERS[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_the_console_are_taken),
		cmocka_unit_test(others_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
