#include "wording/run_brief.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <string.h>

static const char *brief_of(const char *record, size_t max_bytes)
{
	yyjson_val *root = NULL;
	assert_int_equal(json_parse(arena, record, strlen(record), &root, NULL), ERR_NONE);
	yyjson_mut_doc *doc = json_doc_new(arena);
	return json_write_mut(arena, run_brief(arena, doc, root, max_bytes), NULL);
}

static void test_known_members_are_shown(void **state)
{
	(void)state;
	assert_string_equal(brief_of("{\"secret\":\"x\",\"error\":null,\"cost_usd\":0.5,"
	                             "\"run_id\":17,\"files_touched\":[\"a\"]}",
	                             100),
	                    "{\"run_id\":17,\"cost_usd\":0.5,\"files_touched\":[\"a\"]}");
	assert_true(run_brief_shows("error"));
	assert_false(run_brief_shows("secret"));
	assert_false(run_brief_shows(""));
}

static void test_long_members_are_cut(void **state)
{
	(void)state;
	assert_string_equal(brief_of("{\"error\":\"12345678é90\",\"files_touched\":[\"aaaa\",1]}",
	                             9),
	                    "{\"error\":\"12345678…\",\"files_touched\":\"[\\\"aaaa\\\",1…\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_known_members_are_shown),
		ARENA_TEST(test_long_members_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
