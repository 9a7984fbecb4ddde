#include "input/name_hint.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const NAMES[] = {"limit",   "offset", "status", "project_id", "interest_id",
                                    "include", "repo",   "repos",  "q",          NULL};

static const char *hint(const char *given)
{
	const char *best = NULL;
	for (const char *const *name = NAMES; *name; name++)
		best = name_hint_nearer(given, best, *name);
	return best ? best : "";
}

static void the_nearest_name_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *given, *hint;
	} ROWS[] = {
		{"statsu", "status"},
		{"Status", "status"},
		{"STATUS", "status"},
		{"state", "status"},
		{"stat", "status"},
		{"statuses", "status"},
		{"limt", "limit"},
		{"limits", "limit"},
		{"ofset", "offset"},
		{"offest", "offset"},
		{"projectId", "project_id"},
		{"project-id", "project_id"},
		{"project", "project_id"},
		{"interest", "interest_id"},
		{"rep", "repo"},
		{"Repos", "repos"},
		{"includes", "include"},
		{"a_name_of_more_than_all_the_letters_that_are_compared", ""},
		{"", ""},
		{"li", ""},
		{"page", ""},
		{"nosuch", ""},
		{"sort", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (strcmp(hint(ROWS[i].given), ROWS[i].hint) != 0)
			fail_msg("%s: %s", ROWS[i].given, hint(ROWS[i].given));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_name_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
