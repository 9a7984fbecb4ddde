#include "mcp/shape.h"

#include "base/base.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows: a shape, the value, the scale, the copy, and whether something was cut. */
static void a_shape_says_what_is_kept(void **state)
{
	(void)state;
	static const struct {
		const char *shape, *value;
		unsigned scale;
		const char *copy;
		bool is_cut;
	} CASES[] = {
		{"{}", "{\"a\":1,\"b\":null,\"c\":[null,{}]}", 1, "{\"a\":1,\"c\":[null,{}]}",
	         false},
		{"{\"members\":{\"a\":{},\"z\":{}}}", "{\"z\":null,\"b\":2,\"a\":1}", 1,
	         "{\"a\":1}", false},
		{"{\"members\":{\"x\":{\"from\":\"a.b\"}}}", "{\"a\":{\"b\":7}}", 1, "{\"x\":7}",
	         false},
		{"{\"members\":{\"x\":{\"from\":\".\",\"members\":{\"a\":{}}}}}",
	         "{\"a\":3,\"b\":4}", 1, "{\"x\":{\"a\":3}}", false},
		{"{\"items\":{\"members\":{\"a\":{}}}}", "[{\"a\":1,\"b\":2},{}]", 1,
	         "[{\"a\":1},{}]", false},
		{"{\"cut\":3}", "\"abc\"", 1, "\"abc\"", false},
		{"{\"cut\":3}", "\"abcd\"", 1, "\"abc...\"", true},
		{"{\"cut\":2}", "\"\xc3\xa9\xc3\xa9\xc3\xa9\"", 1, "\"\xc3\xa9\xc3\xa9...\"", true},
		{"{\"first\":4}", "\"2026-01-31\"", 1, "\"2026\"", false},
		{"{\"most\":2,\"items\":{}}", "[1,2,3]", 1, "[1,2]", true},
		{"{}", "[1,2,3]", 2, "[1,2]", true},
		{"{\"cut\":80}", "\"0123456789012345678901234567890123456789x\"", 2,
	         "\"0123456789012345678901234567890123456789...\"", true},
		{"{}", "\"a\\u200bb\\u0007\"", 1, "\"ab\"", false},
		{"{}", "\"@\\u200ball, closes #\\u200b1, #\\u200bx, b@\\u200bc #\\u200b\"", 1,
	         "\"@\xe2\x80\x8b"
	         "all, closes #\xe2\x80\x8b"
	         "1, #x, b@c #\"",
	         false},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct arena *arena = arena_new();
		struct shaping shaping = {.arena = arena,
		                          .doc = json_doc_new(arena),
		                          .scale = CASES[i].scale};
		yyjson_mut_val *copy = shape_apply(&shaping, json_parse_own(arena, CASES[i].shape),
		                                   json_parse_own(arena, CASES[i].value));
		assert_string_equal(json_write_mut(arena, copy, NULL), CASES[i].copy);
		assert_int_equal(shaping.is_cut, CASES[i].is_cut);
		arena_free(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shape_says_what_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
