#include "evidence/verdict_count.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DAY_MS ((int64_t)24 * 3600 * 1000)

static void a_pull_request_works_once_it_is_kept(void **state attr_unused)
{
	const int64_t now_ms = 1000 * DAY_MS;
	static const struct {
		const char *stage;
		int64_t days;
		const char *verdict;
	} ROWS[] = {
		{"open", 90, "pending"},  {"closed", 0, "failed"},   {"closed", 90, "failed"},
		{"merged", 0, "pending"}, {"merged", 29, "pending"}, {"merged", 30, "worked"},
		{"merged", 90, "worked"}, {NULL, 90, "pending"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(verdict_of_pull_request(ROWS[i].stage,
		                                            now_ms - ROWS[i].days * DAY_MS, now_ms),
		                    ROWS[i].verdict);
}

static void a_paper_has_the_verdicts_of_those_who_tried_it(void **state attr_unused)
{
	static const struct {
		const char *verdicts[4];
		const char *paper;
	} ROWS[] = {
		{{NULL}, "untried"},
		{{"untried"}, "untried"},
		{{"pending", "untried"}, "pending"},
		{{"worked", "pending"}, "worked"},
		{{"pending", "failed", "failed"}, "failed"},
		{{"failed", "pending", "worked"}, "mixed"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct verdict_count count = {0};
		for (size_t j = 0; j < ARRAY_LEN(ROWS[i].verdicts); j++)
			verdict_add(&count, ROWS[i].verdicts[j]);
		assert_string_equal(verdict_of_paper(&count), ROWS[i].paper);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pull_request_works_once_it_is_kept),
		cmocka_unit_test(a_paper_has_the_verdicts_of_those_who_tried_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
