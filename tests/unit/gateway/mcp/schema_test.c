#include "mcp/schema.h"

#include "base/base.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_keyword_is_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
