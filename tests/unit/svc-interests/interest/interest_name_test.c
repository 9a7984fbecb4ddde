#include "interest/interest_name.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_topic(const char *name, const char *topic)
{
	struct arena *arena = arena_new();
	assert_string_equal(interest_name_topic(arena, name), topic);
	arena_free(arena);
}

static void labels_say_nothing_about_a_topic(void **state attr_unused)
{
	static const char *const labels[] = {
		"",        "x",           "A / B",    "2026",
		"Q3",      "my interest", "Research", "Reading list",
		"Test 12", "Team papers", "v2: -",    "W12_2026",
	};
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		assert_topic(labels[i], "");
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
		assert_topic(topics[i], topics[i]);
}

static void identifiers_are_no_part_of_a_topic(void **state attr_unused)
{
	static const struct {
		const char *name, *topic;
	} rows[] = {
		{"Interest 5d3a2b1c", ""},
		{"5d3a2b1c", ""},
		{"Retrieval 5D3A2B1C", "Retrieval"},
		{"retrieval-1732378000-agents", "retrieval-agents"},
		{"0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b", ""},
		{"RAG 0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b, dense", "RAG, dense"},
		{"BEA2019", "BEA2019"},
		{"Deadbeef", "Deadbeef"},
		{"Like 2504.02921", "Like 2504.02921"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_topic(rows[i].name, rows[i].topic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_say_nothing_about_a_topic),
		cmocka_unit_test(other_names_are_topics),
		cmocka_unit_test(identifiers_are_no_part_of_a_topic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
