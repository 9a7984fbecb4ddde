#include "service/roles.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_roles(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		struct roles roles;
	} ROWS[] = {
		{"http,jobs", {true, true}},
		{"jobs,http", {true, true}},
		{"http", {true, false}},
		{"jobs", {false, true}},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct roles roles;
		assert_int_equal(roles_parse(ROWS[i].text, &roles), ERR_NONE);
		assert_int_equal(roles.has_http, ROWS[i].roles.has_http);
		assert_int_equal(roles.has_jobs, ROWS[i].roles.has_jobs);
	}
}

static void test_what_is_no_list_of_roles(void **state)
{
	(void)state;
	static const char *const TEXTS[] = {
		"",     ",",         "http,", ",jobs", "http,,jobs", "web",
		"HTTP", "http jobs", "htt",   "httpd", "http,http",  "jobs,http,jobs",
	};
	struct roles roles;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_int_equal(roles_parse(TEXTS[i], &roles), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_what_is_no_list_of_roles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
