#include "ingest/metadata.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static yyjson_val *json(const char *text)
{
	yyjson_val *root = NULL;
	assert_int_equal(json_parse(arena, text, strlen(text), &root, NULL), ERR_NONE);
	return root;
}

/* The row of a line as JSON; NULL: the line was refused, and *ret_why says why. */
static const char *row_of(const char *line, const char **ret_why)
{
	struct metadata paper;
	if (metadata_read(arena, json(line), &paper, ret_why))
		return NULL;
	yyjson_mut_val *row = metadata_row(arena, json_doc_new(arena), &paper, ret_why);
	return row ? json_write_mut(arena, row, NULL) : NULL;
}

static void test_lines_become_rows(void **state)
{
	static const char *const ROWS[][2] = {
		{"{\"id\":\"2401.00001v2\",\"title\":\" A\\n  b \"}",
	         "{\"arxiv_id\":\"2401.00001\",\"title\":\"A b\",\"abstract\":\"\",\"authors\":[],"
	         "\"categories\":[]}"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"authors\":\"A. One, B. Two and C. "
	         "Three\"}",
	         "{\"arxiv_id\":\"2401.00001\",\"title\":\"T\",\"abstract\":\"\",\"authors\":[\"A. "
	         "One\","
	         "\"B. Two\",\"C. Three\"],\"categories\":[]}"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"authors\":\"ignored\",\"authors_"
	         "parsed\":"
	         "[[\"Hu\",\"E. J.\",\"\"],[\"Team\"],[],5,[\"X\",\"\",\"Jr\"]],\"categories\":\" "
	         "a  b \"}",
	         "{\"arxiv_id\":\"2401.00001\",\"title\":\"T\",\"abstract\":\"\",\"authors\":[\"E. "
	         "J. "
	         "Hu\",\"Team\",\"X Jr\"],\"categories\":[\"a\",\"b\"]}"},
		{"{\"_id\":\"2401.00001\",\"title\":\"T\",\"text\":\"Abs\",\"authors\":null,"
	         "\"categories\":null,\"published_at\":\"2025-03-01\",\"license\":\"\"}",
	         "{\"arxiv_id\":\"2401.00001\",\"title\":\"T\",\"abstract\":\"Abs\",\"authors\":[],"
	         "\"categories\":[],\"published_at\":\"2025-03-01T00:00:00.000Z\",\"updated_at\":"
	         "\"2025-03-01T00:00:00.000Z\"}"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"versions\":[{\"created\":\"Mon, 2 Apr "
	         "2007 "
	         "19:18:42 GMT\"},{\"created\":\"nonsense\"}],\"update_date\":\"2008-01-02\"}",
	         "{\"arxiv_id\":\"2401.00001\",\"title\":\"T\",\"abstract\":\"\",\"authors\":[],"
	         "\"categories\":[],\"published_at\":\"2007-04-02T19:18:42.000Z\",\"updated_at\":"
	         "\"2008-01-02T00:00:00.000Z\"}"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"update_date\":\"0000-01-01\","
	         "\"versions\":5}",
	         "{\"arxiv_id\":\"2401.00001\",\"title\":\"T\",\"abstract\":\"\",\"authors\":[],"
	         "\"categories\":[]}"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *why, *row = row_of(ROWS[i][0], &why);
		assert_non_null(row);
		/* The texts of these rows are plain (plain_text_test.c). */
		assert_string_equal(row, arena_printf(arena,
		                                      "%.*s,\"source_title\":null,\"source_"
		                                      "abstract\":null,\"source_authors\":null}",
		                                      (int)strlen(ROWS[i][1]) - 1, ROWS[i][1]));
	}
}

static void test_invalid_lines_are_refused(void **state)
{
	static const char *const ROWS[][2] = {
		{"[]", "object"},
		{"5", "object"},
		{"{}", "no id"},
		{"{\"id\":5}", "id is not a string"},
		{"{\"id\":\"2401.00001\",\"title\":[]}", "title is not a string"},
		{"{\"id\":\"x\",\"title\":\"T\"}", "neither an arXiv id"},
		{"{\"id\":\"2401.00001\"}", "no title"},
		{"{\"id\":\"2401.00001\",\"title\":\" \\t\"}", "no title"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"authors\":{}}", "authors"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"authors\":[[]]}", "authors"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"categories\":[1]}", "categories"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"categories\":\"cs.LG; cs.AI\"}",
	         "category"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"categories\":[\"\u00e9\"]}", "category"},
		{"{\"id\":\"2401.00001\",\"title\":\"T\",\"github_url\":\"javascript:x\"}",
	         "github_url"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *why = NULL;
		assert_null(row_of(ROWS[i][0], &why));
		assert_non_null(why);
		assert_non_null(strstr(why, ROWS[i][1]));
	}
}

/* The limits are in characters, not bytes. */
static void test_lengths_are_limited(void **state)
{
	(void)state;
	char *title = arena_alloc(arena, 2003);
	for (size_t i = 0; i < 1000; i++)
		memcpy(title + 2 * i, "\303\251", 2);
	const char *why;
	struct metadata paper = {.id = "2401.00001", .title = title};
	assert_non_null(metadata_row(arena, json_doc_new(arena), &paper, &why));
	title[2000] = 'x';
	assert_null(metadata_row(arena, json_doc_new(arena), &paper, &why));
	paper.title = "T";
	char *abstract = arena_alloc(arena, 50002);
	memset(abstract, 'x', 50000);
	paper.abstract = abstract;
	assert_non_null(metadata_row(arena, json_doc_new(arena), &paper, &why));
	abstract[50000] = 'x';
	assert_null(metadata_row(arena, json_doc_new(arena), &paper, &why));
}

static void test_a_github_repository_is_found_in_the_abstract(void **state)
{
	static const char *const ROWS[][2] = {
		{"at https://github.com/acme/tool.", "https://github.com/acme/tool"},
		{"at github.com/acme/tool", "https://github.com/acme/tool"},
		{"(www.github.com/acme/tool.git)", "https://github.com/acme/tool"},
		{"\\url{https://github.com/acme/low\\_rank}", "https://github.com/acme/low_rank"},
		{"github.com/a_b/c.d-e/tree/main.", "https://github.com/a_b/c.d-e"},
		{"github.com/acme and https://github.com/acme/tool",
	         "https://github.com/acme/tool"},
		{"at HTTPS://GitHub.com/Acme/Tool", "https://github.com/Acme/Tool"},
		{"github.com/orgs/acme and github.com/acme/tool", "https://github.com/acme/tool"},
		{"github.com/topics/ranking", NULL},
		{"notgithub.com/acme/tool", NULL},
		{"gist.github.com/acme/tool", NULL},
		{"github.com/", NULL},
		{"github.com/acme", NULL},
		{"github.com/acme/", NULL},
		{"github.com//tool", NULL},
		{"github.com/acme/...", NULL},
		{"nothing", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *why;
		struct metadata paper = {.id = "2401.00001", .title = "T", .abstract = ROWS[i][0]};
		yyjson_mut_val *row = metadata_row(arena, json_doc_new(arena), &paper, &why);
		const char *url = yyjson_mut_get_str(yyjson_mut_obj_get(row, "github_url"));
		if (ROWS[i][1])
			assert_string_equal(url, ROWS[i][1]);
		else
			assert_null(url);
	}
}

static void test_an_address_is_kept_in_one_form(void **state)
{
	const char *why;
	struct metadata paper = {.id = "2401.00001",
	                         .title = "T",
	                         .github_url = "HTTPS://GitHub.com/Acme/Tool"};
	(void)state;
	yyjson_mut_val *row = metadata_row(arena, json_doc_new(arena), &paper, &why);
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_obj_get(row, "github_url")),
	                    "https://github.com/Acme/Tool");
}

static void test_white_space_is_collapsed(void **state)
{
	(void)state;
	assert_string_equal(metadata_collapse_space(arena, ""), "");
	assert_string_equal(metadata_collapse_space(arena, " \t\n"), "");
	assert_string_equal(metadata_collapse_space(arena, "  a \r\n b\tc "), "a b c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_lines_become_rows),
		ARENA_TEST(test_invalid_lines_are_refused),
		ARENA_TEST(test_lengths_are_limited),
		ARENA_TEST(test_a_github_repository_is_found_in_the_abstract),
		ARENA_TEST(test_an_address_is_kept_in_one_form),
		ARENA_TEST(test_white_space_is_collapsed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
