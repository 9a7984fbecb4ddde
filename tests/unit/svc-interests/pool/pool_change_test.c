#include "pool/pool_change.h"

#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STORED "{\"2401.00001\": 0.9, \"2401.00002\": 0.8, \"2401.00003\": 0.7}"

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct stored_pool stored_with(const char *cursor)
{
	return (struct stored_pool){json_parse_own(arena, STORED), cursor};
}

static struct pool_search search_with(const char *cursor)
{
	return (struct pool_search){
		.results = json_parse_own(
			arena,
			"[{\"arxiv_id\": \"2401.00004\", \"relevance\": 0.95, \"matched\": "
			"[\"a\"], \"version\": 1},"
			" {\"arxiv_id\": \"2401.00003\", \"relevance\": 0.695, \"matched\": []},"
			" {\"arxiv_id\": \"2401.00001\", \"relevance\": 0.85, \"matched\": []}]"),
		.question = "q",
		.cursor = cursor,
		.embedder = "e",
		.documents = 40000,
	};
}

static void assert_change(const struct stored_pool *stored, const struct pool_search *search,
                          const char *json)
{
	assert_string_equal(pool_change_write(arena, stored, search), json);
}

static void test_only_what_changes_is_written(void **state)
{
	(void)state;
	struct stored_pool stored = stored_with("1");
	struct pool_search search = search_with("2");
	assert_change(&stored, &search,
	              "{\"rows\":[{\"arxiv_id\":\"2401.00004\",\"relevance\":0.95,\"matched\":"
	              "[\"a\"]},{\"arxiv_id\":\"2401.00001\",\"relevance\":0.85,\"matched\":[]}],"
	              "\"kept\":1,\"gone\":[\"2401.00002\"],\"last_cursor\":\"1\","
	              "\"question\":\"q\",\"cursor\":\"2\",\"model\":\"e\",\"documents\":40000,"
	              "\"is_whole\":false}");
}

/* Nothing says what is stored, or what is found, so that the next search could go on with it. */
static void test_all_is_written_where_a_cursor_lacks(void **state)
{
	(void)state;
	static const char *const CURSORS[][2] = {{NULL, "2"}, {"1", NULL}, {NULL, NULL}};
	for (size_t i = 0; i < ARRAY_LEN(CURSORS); i++) {
		struct stored_pool stored = stored_with(CURSORS[i][0]);
		struct pool_search search = search_with(CURSORS[i][1]);
		yyjson_val *change =
			json_parse_own(arena, pool_change_write(arena, &stored, &search));
		assert_int_equal(yyjson_arr_size(json_get(change, "rows")), 3);
		assert_int_equal(json_get_int(change, "kept", -1), 0);
		assert_int_equal(yyjson_arr_size(json_get(change, "gone")), 0);
		assert_null(json_get_text(change, "last_cursor"));
	}
}

static void test_nothing_is_stored(void **state)
{
	(void)state;
	struct stored_pool stored = {.cursor = "1"};
	struct pool_search search = search_with("2");
	yyjson_val *change = json_parse_own(arena, pool_change_write(arena, &stored, &search));
	assert_int_equal(yyjson_arr_size(json_get(change, "rows")), 3);
	assert_int_equal(yyjson_arr_size(json_get(change, "gone")), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_only_what_changes_is_written),
		CASE(test_all_is_written_where_a_cursor_lacks),
		CASE(test_nothing_is_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
