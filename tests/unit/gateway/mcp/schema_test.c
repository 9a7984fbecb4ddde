#include "mcp/schema.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OBJECT(members) \
	"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" members "}}"

/* Rows: a schema, a value, and its faults. */
static void each_keyword_is_checked(void **state)
{
	(void)state;
	static const struct {
		const char *schema, *value, *faults;
	} CASES[] = {
		{"{\"type\":\"integer\"}", "5.0", ""},
		{"{\"type\":\"integer\"}", "5.5", "arguments: must be of type \"integer\"\n"},
		{"{\"type\":\"number\"}", "null", "arguments: must be of type \"number\"\n"},
		{"{\"type\":[\"integer\",\"string\"]}", "\"x\"", ""},
		{"{\"type\":[\"integer\",\"string\"]}", "true",
	         "arguments: must be of type [\"integer\",\"string\"]\n"},
		{"{\"type\":\"boolean\"}", "\"true\"", "arguments: must be of type \"boolean\"\n"},
		{"{\"enum\":[\"a\",\"b\"]}", "\"c\"", "arguments: must be one of [\"a\",\"b\"]\n"},
		{"{\"minimum\":1,\"maximum\":3}", "0", "arguments: must be at least 1\n"},
		{"{\"minimum\":1,\"maximum\":3}", "4", "arguments: must be at most 3\n"},
		{"{\"minimum\":1,\"maximum\":3}", "\"not a number\"", ""},
		{"{\"minLength\":2}", "\"\xc3\xa9\"",
	         "arguments: must have at least 2 characters\n"},
		{"{\"maxLength\":1}", "\"\xc3\xa9\"", ""},
		{"{\"pattern\":\"^[a-z]+/[a-z]+$\"}", "\"a/b\"", ""},
		{"{\"pattern\":\"^[a-z]+/[a-z]+$\"}", "\"a b\"",
	         "arguments: must match \"^[a-z]+/[a-z]+$\"\n"},
		{"{\"format\":\"uuid\"}", "\"x\"", "arguments: must be a \"uuid\"\n"},
		{"{\"format\":\"uri\"}", "\"x\"", ""},
		{"{\"minItems\":1,\"maxItems\":1}", "[]",
	         "arguments: must have at least 1 items\n"},
		{"{\"minItems\":1,\"maxItems\":1}", "[1,2]",
	         "arguments: must have at most 1 items\n"},
		{OBJECT("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"),
	         "{\"a\":[\"x\",1,2]}",
	         "a[1]: must be of type \"string\"\na[2]: must be of type \"string\"\n"},
		{OBJECT("\"a\":{\"type\":\"string\"}"), "{\"b\":1,\"a\":2}",
	         "b: is no argument of this tool\na: must be of type \"string\"\n"},
		{"{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\",\"b\"]}",
	         "{\"a\":1}", "b: is required\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct arena *arena = arena_new();
		struct buf faults = {.arena = arena};
		yyjson_val *schema = json_parse_own(arena, CASES[i].schema);
		schema_start(schema);
		size_t count =
			schema_faults(&faults, schema, json_parse_own(arena, CASES[i].value), "");
		assert_string_equal(faults.data ? faults.data : "", CASES[i].faults);
		assert_int_equal(count > 0, CASES[i].faults[0] != '\0');
		arena_free(arena);
	}
}

#define STRINGS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"

/* The lines of the faults of a text of `count` pieces between `before` and `after`, with commas. */
static size_t lines_of(const char *schema, const char *before, const char *piece, size_t count,
                       const char *after, bool *ret_ends_with_others)
{
	static const char OTHERS[] = "and others\n";
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena}, faults = {.arena = arena};
	buf_puts(&text, before);
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, piece, i ? "," : "", i);
	buf_puts(&text, after);
	size_t found = schema_faults(&faults, json_parse_own(arena, schema),
	                             json_parse_own(arena, text.data), "");
	size_t lines = 0;
	for (size_t i = 0; i < faults.length; i++)
		lines += faults.data[i] == '\n';
	assert_int_equal(lines, found);
	*ret_ends_with_others =
		faults.length >= sizeof(OTHERS) - 1 &&
		strcmp(faults.data + faults.length - (sizeof(OTHERS) - 1), OTHERS) == 0;
	arena_free(arena);
	return lines;
}

static void faults_are_bounded(void **state)
{
	(void)state;
	static const struct {
		size_t count, lines;
		bool has_others;
	} CASES[] = {{1, 1, false}, {20, 20, false}, {21, 21, true}, {100000, 21, true}};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		bool items_others, members_others;
		size_t count = CASES[i].count;
		assert_int_equal(lines_of(STRINGS, "[", "%s%zu", count, "]", &items_others),
		                 CASES[i].lines);
		assert_int_equal(lines_of(OBJECT("\"a\":{}"), "{", "%s\"n%zu\":0", count, "}",
		                          &members_others),
		                 CASES[i].lines);
		assert_int_equal(items_others, CASES[i].has_others);
		assert_int_equal(members_others, CASES[i].has_others);
	}
}

static void an_unknown_name_is_shortened(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf value = {.arena = arena}, faults = {.arena = arena};
	buf_puts(&value, "{\"");
	for (int i = 0; i < 10000; i++)
		buf_puts(&value, "\xf0\x9f\x98\x80");
	buf_puts(&value, "\":0}");
	assert_int_equal(schema_faults(&faults, json_parse_own(arena, OBJECT("")),
	                               json_parse_own(arena, value.data), ""),
	                 1);
	assert_true(faults.length < 200 && utf8_is_valid(faults.data, faults.length));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_keyword_is_checked),
		cmocka_unit_test(faults_are_bounded),
		cmocka_unit_test(an_unknown_name_is_shortened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
