#include "preference/interest_name.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void labels_say_nothing_about_a_topic(void **state attr_unused)
{
	static const char *const labels[] = {
		"",        "x",           "A / B",    "2026",
		"Q3",      "my interest", "Research", "Reading list",
		"Test 12", "Team papers", "v2: -",    "W12_2026",
	};
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		assert_true(interest_name_is_label(labels[i]));
}

static void other_names_are_topics(void **state attr_unused)
{
	static const char *const topics[] = {
		"Test-time adaptation",
		"T5",
		"3D",
		"H100",
		"AI",
		"RL papers",
		"Kunst",
		"\xE7\xA7\x91",
		"Project X-ray",
	};
	for (size_t i = 0; i < ARRAY_LEN(topics); i++)
		assert_false(interest_name_is_label(topics[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_say_nothing_about_a_topic),
		cmocka_unit_test(other_names_are_topics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
