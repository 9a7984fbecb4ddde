#include "chat/citation.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "json/json.h"

#include <string.h>

static yyjson_val *parse(const char *text)
{
	yyjson_val *root = NULL;
	assert_int_equal(json_parse(arena, text, strlen(text), &root, NULL), ERR_NONE);
	return root;
}

/* What is left of a text about two runs, and what it cites. */
static const char *take(const char *text)
{
	struct labelled_runs runs = {
		.runs = {parse("{\"run_id\":17,\"error\":\"no space\",\"secret\":1}"),
	                 parse("{\"run_id\":\"b\",\"status\":\"failed\",\"error\":null}")},
		.count = 2,
	};
	struct citations citations = citations_new(arena, json_doc_new(arena));
	const char *left = citations_take(&citations, text, &runs);
	return arena_printf(arena, "%s %s", left, json_write_mut(arena, citations.list, NULL));
}

static void test_marks_of_shown_runs_become_citations(void **state)
{
	static const struct {
		const char *text, *taken;
	} CASES[] = {
		{"Full [R1.error].", "Full [run 17]. [{\"run_id\":17,\"field\":\"error\"}]"},
		{"[R2] bad [R2]\n",
	         "[run b] bad [run b] [{\"run_id\":\"b\",\"field\":\"run_id\"}]"},
		{"a [R3] b [R0] c", "a b c []"},
		{"a [R1.secret] b [R2.error] c [R2.agent]", "a b c []"},
		{"a [R18446744073709551617] b", "a b []"},
		{"[R1", "[R1 []"},
		{"[R1.error", "[R1.error []"},
		{"[R1.] [R1 .error] [r1] [Rx] []", "[R1.] [R1 .error] [r1] [Rx] [] []"},
		{"[R1.ERROR] [R1.error.x]", "[R1.ERROR] [R1.error.x] []"},
		{" [R7] ", " []"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_string_equal(take(CASES[i].text), CASES[i].taken);
}

static void test_a_reply_has_fifty_citations_at_most(void **state)
{
	struct citations citations = citations_new(arena, json_doc_new(arena));
	(void)state;
	for (int i = 0; i < 100; i++)
		citation_add(&citations, parse(arena_printf(arena, "%d", i / 2)), "error");
	assert_int_equal(yyjson_mut_arr_size(citations.list), 50);
	citation_add(&citations, parse("99"), "error");
	assert_int_equal(yyjson_mut_arr_size(citations.list), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_marks_of_shown_runs_become_citations),
		ARENA_TEST(test_a_reply_has_fifty_citations_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
