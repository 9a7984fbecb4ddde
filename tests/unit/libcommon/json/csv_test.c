#include "json/csv.h"

#include "arena_fixture.h"
#include "base/base.h"

static const char *cell_of(const char *json)
{
	struct buf out = {.arena = arena};
	csv_cell(&out, json_parse_own(arena, json), true);
	return out.data ? out.data : "";
}

/* Also where `;` separates cells, as spreadsheets of most of Europe have it. */
static void no_cell_begins_a_formula(void **state)
{
	(void)state;
	static const char *const EXAMPLES[][2] = {
		{"\"=1+1\"", "\"'=1+1\""},
		{"\"-x\"", "\"'-x\""},
		{"\"\\tx\"", "\"'\tx\""},
		{"\"x;=1;+2; @a\"", "\"x;'=1;'+2; '@a\""},
		{"\"x\\n=1\\r-2\\t=3\"", "\"x\n'=1\r'-2\t'=3\""},
		{"\"x;\\\"=1\"", "\"x;\"\"'=1\""},
		{"[\"a\", \"=b\", \"c=d\"]", "\"a; '=b; c=d\""},
		{"{\"a\": \"x;=1\"}", "\"{\"\"a\"\":\"\"x;'=1\"\"}\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(EXAMPLES); i++)
		assert_string_equal(cell_of(EXAMPLES[i][0]), EXAMPLES[i][1]);
}

static void other_values_stay(void **state)
{
	(void)state;
	static const char *const EXAMPLES[][2] = {
		{"\"a = b; c-d, e@f; 1\"", "\"a = b; c-d, e@f; 1\""},
		{"\"say \\\"b\\\"\"", "\"say \"\"b\"\"\""},
		{"-1", "-1"},
		{"[-1, 2]", "\"'-1; 2\""},
		{"null", ""},
		{"\"\"", "\"\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(EXAMPLES); i++)
		assert_string_equal(cell_of(EXAMPLES[i][0]), EXAMPLES[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(no_cell_begins_a_formula),
		ARENA_TEST(other_values_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
