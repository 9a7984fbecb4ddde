#include "json/json.h"

#include "arena_fixture.h"
#include "json/json_repair.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static enum err_code parse(const char *text, yyjson_val **ret_root, const char **ret_why)
{
	return json_parse(arena, text, strlen(text), ret_root, ret_why);
}

static yyjson_val *parsed(const char *text)
{
	yyjson_val *root = NULL;
	assert_int_equal(parse(text, &root, NULL), ERR_NONE);
	assert_non_null(root);
	return root;
}

static void valid_text_is_read_and_written(void **state attr_unused)
{
	static const struct {
		const char *text, *written; /* NULL: the same */
	} ROWS[] = {
		{"null", NULL},
		{"true", NULL},
		{"0", NULL},
		{"-0", "0"},
		{"-1.5e3", "-1500.0"},
		{"18446744073709551615", NULL},
		{"-9223372036854775808", NULL},
		{"18446744073709551616", "18446744073709552000.0"},
		{"1e308", "1e308"},
		{"1e-999", "0.0"},
		{"\"\"", NULL},
		{"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"", "\"a\\\"\\\\/\\b\\f\\n\\r\\tA\""},
		{"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
		{"\"\xc3\xa4\xe2\x82\xac\"", NULL},
		{"[]", NULL},
		{"{}", NULL},
		{" \t\r\n[ 1 , 2 ] \n", "[1,2]"},
		{"{\"a\":1,\"b\":{\"a\":[{}]},\"\":2}", NULL},
		{"[{\"a\":1},{\"a\":2}]", NULL},
		{"{\"a\":1,\"A\":2,\"\xc3\xa4\":3,\"ab\":4}", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		size_t length;
		char *text = json_write(arena, parsed(ROWS[i].text), &length);
		assert_string_equal(text, ROWS[i].written ? ROWS[i].written : ROWS[i].text);
		assert_int_equal(length, strlen(text));
	}
}

static void invalid_text_is_refused(void **state attr_unused)
{
	static const char *const TEXTS[] = {
		"",
		" ",
		"nul",
		"True",
		"NaN",
		"Infinity",
		"-Infinity",
		"1e999",
		"-1e999",
		"01",
		"+1",
		"1.",
		".5",
		"-",
		"0x10",
		"1 2",
		"{} {}",
		"[1,]",
		"[,1]",
		"[1",
		"]",
		"{\"a\":1,}",
		"{\"a\"}",
		"{\"a\":}",
		"{a:1}",
		"{'a':1}",
		"{1:1}",
		"{\"a\":1",
		"// note\n1",
		"/* note */ 1",
		"\"a",
		"\"\\x41\"",
		"\"\\u12\"",
		"\"\\ud800\"",
		"\"\\udc00\\ud800\"",
		"\"\\ud800\\u0041\"",
		"\"a\nb\"",
		"\"a\tb\"",
		"\"\x80\"",
		"\"\xc0\xaf\"",
		"\"\xc3\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"\"\xf8\x88\x80\x80\x80\"",
		"\xef\xbb\xbf{}", /* a byte order mark */
		"\"\\u0000\"",
		"\"a\\u0000b\"",
		"[[{\"a\":[\"\\u0000\"]}]]",
		"{\"\\u0000\":1}",
		"{\"a\":{\"b\\u0000\":1}}",
	};
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
		yyjson_val *root = NULL;
		const char *why = NULL;
		if (parse(TEXTS[i], &root, &why) != ERR_MALFORMED)
			fail_msg("taken: %s", TEXTS[i]);
		assert_null(root);
		assert_non_null(strstr(why, " at byte "));
		assert_int_equal(parse(TEXTS[i], &root, NULL), ERR_MALFORMED);
	}
}

static void only_length_bytes_are_read(void **state attr_unused)
{
	yyjson_val *root;
	assert_int_equal(json_parse(arena, "[1]x", 3, &root, NULL), ERR_NONE);
	assert_int_equal(json_parse(arena, "[1]\0", 4, &root, NULL), ERR_MALFORMED);
	assert_int_equal(json_parse(arena, "\"a\0b\"", 5, &root, NULL), ERR_MALFORMED);
	assert_int_equal(json_parse(arena, NULL, 0, &root, NULL), ERR_MALFORMED);
	/* The text is copied. */
	char text[] = "[\"abc\"]";
	assert_int_equal(json_parse(arena, text, strlen(text), &root, NULL), ERR_NONE);
	memset(text, 'x', sizeof(text));
	assert_string_equal(yyjson_get_str(yyjson_arr_get(root, 0)), "abc");
}

static void faults_name_the_byte(void **state attr_unused)
{
	static const struct {
		const char *text, *why;
	} ROWS[] = {
		{"{\"a\":1,\"b\":2,\"a\":3}", "has a duplicate member name at byte 14"},
		{"{\"a\":1,\"\\u0061\":3}", "has a duplicate member name at byte 8"},
		{"[0,{\"a\":{\"\":1,\"\":2}}]", "has a duplicate member name at byte 15"},
		{"[\"a\\u0000b\"]", "has a NUL (\\u0000) in a string at byte 2"},
		{"[1,2,x]", "is not valid JSON: "},
		{"[1,2,x]", " at byte 5"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		yyjson_val *root;
		const char *why = NULL;
		assert_int_equal(parse(ROWS[i].text, &root, &why), ERR_MALFORMED);
		if (!strstr(why, ROWS[i].why))
			fail_msg("%s: %s", ROWS[i].text, why);
	}
}

/* `count` times `open`, then as often `close`. */
static char *nested(const char *open, const char *inner, const char *close, int count)
{
	struct buf text = {.arena = arena};
	for (int i = 0; i < count; i++)
		buf_puts(&text, open);
	buf_puts(&text, inner);
	for (int i = 0; i < count; i++)
		buf_puts(&text, close);
	return text.data;
}

static void depth_is_bounded(void **state attr_unused)
{
	yyjson_val *root;
	const char *why;
	assert_int_equal(parse(nested("[", "", "]", 64), &root, NULL), ERR_NONE);
	assert_int_equal(parse(nested("[", "", "]", 65), &root, &why), ERR_MALFORMED);
	assert_string_equal(why, "nests deeper than 64 at byte 64");
	assert_int_equal(parse(nested("{\"a\":", "1", "}", 64), &root, NULL), ERR_NONE);
	assert_int_equal(parse(nested("{\"a\":", "{}", "}", 64), &root, NULL), ERR_MALFORMED);
	/* What holds the JSON of a client is deeper. */
	const char *own = nested("[", "", "]", 96), *too_deep = nested("[", "", "]", 97);
	assert_int_equal(json_parse_peer(arena, own, strlen(own), SIZE_MAX, &root, NULL), ERR_NONE);
	assert_int_equal(json_parse_peer(arena, too_deep, strlen(too_deep), SIZE_MAX, &root, &why),
	                 ERR_MALFORMED);
	assert_string_equal(why, "nests deeper than 96 at byte 96");
	assert_non_null(json_parse_own(arena, own));
	/* Brackets in strings and neighbours do not nest. */
	char *brackets = nested("[", "", "", 1000);
	assert_int_equal(parse(arena_printf(arena, "\"\\\"%s\"", brackets), &root, NULL), ERR_NONE);
	assert_int_equal(parse(arena_printf(arena, "[%s0]", nested("[[]],", "", "", 1000)), &root,
	                       NULL),
	                 ERR_NONE);
	/* A megabyte of brackets allocates no memory for parsing. */
	size_t before = arena_size_bytes(arena);
	char *many = nested("[", "", "", 1 << 20);
	size_t text_bytes = arena_size_bytes(arena) - before;
	assert_int_equal(parse(many, &root, NULL), ERR_MALFORMED);
	assert_int_equal(arena_size_bytes(arena), before + text_bytes);
}

static void values_are_counted(void **state attr_unused)
{
	static const struct {
		const char *text;
		size_t values;
	} CASES[] = {
		{"", 1},
		{"17", 1},
		{"\"a,b:[{\\\"\"", 1},
		{"[1,[2],{}]", 6},
		{"{\"a\":1,\"b\":{\"c\":null}}", 7},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_int_equal(json_values_max(CASES[i].text, strlen(CASES[i].text)),
		                 CASES[i].values);
}

/* Parsing takes what was counted, however dense the values are: half as much again, of which the
 * last part is not touched, and the copy of the text. */
static void memory_is_as_counted(void **state attr_unused)
{
	const size_t length = 1 << 20;
	char *text = arena_alloc(arena, length);
	for (size_t i = 0; i < length - 1; i += 2)
		memcpy(text + i, ",1", 2);
	text[0] = '[';
	text[length - 2] = ' ';
	text[length - 1] = ']';
	size_t before = arena_size_bytes(arena);
	yyjson_val *root;
	assert_int_equal(json_parse(arena, text, length, &root, NULL), ERR_NONE);
	assert_int_equal(yyjson_arr_size(root), length / 2 - 1);
	size_t values_bytes = json_values_max(text, length) * sizeof(yyjson_val);
	assert_in_range(arena_size_bytes(arena) - before, 1, length + values_bytes * 3 / 2 + 4096);
}

/* No memory is spent on a text with too many values, also when it is no JSON or nests too deep. */
static void values_can_be_bounded(void **state attr_unused)
{
	static const char TEXT[] = "[1,2,3]";
	const char *why = NULL;
	yyjson_val *root = NULL;
	size_t values = json_values_max(TEXT, strlen(TEXT));
	size_t before = arena_size_bytes(arena);
	assert_int_equal(json_parse_bounded(arena, TEXT, strlen(TEXT), values - 1, &root, NULL),
	                 ERR_TOO_LARGE);
	assert_int_equal(json_parse_bounded(arena, ",,,,", 4, 4, &root, &why), ERR_TOO_LARGE);
	assert_string_equal(why, "has more than 4 values");
	assert_null(root);
	assert_in_range(arena_size_bytes(arena) - before, 0, 4096);
	assert_int_equal(json_parse_bounded(arena, TEXT, strlen(TEXT), values, &root, &why),
	                 ERR_NONE);
	assert_int_equal(yyjson_arr_size(root), 3);
}

/* `{"key0":0,"key1":0,...}`, with `extra` for one more name. */
static char *object_of(int count, const char *extra)
{
	struct buf text = {.arena = arena};
	buf_puts(&text, "{");
	for (int i = 0; i < count; i++)
		buf_printf(&text, "\"key%d\":0,", i);
	buf_printf(&text, "\"%s\":0}", extra);
	return text.data;
}

static void duplicates_are_found_in_objects_of_any_size(void **state attr_unused)
{
	static const int COUNTS[] = {1, 2, 14, 15, 16, 17, 100, 100000};
	yyjson_val *root;
	const char *why;
	for (size_t i = 0; i < ARRAY_LEN(COUNTS); i++) {
		int count = COUNTS[i];
		char *last = arena_printf(arena, "key%d", count - 1);
		assert_int_equal(parse(object_of(count, "other"), &root, NULL), ERR_NONE);
		assert_int_equal(parse(object_of(count, ""), &root, NULL), ERR_NONE);
		assert_int_equal(parse(object_of(count, "key"), &root, NULL), ERR_NONE);
		assert_int_equal(parse(object_of(count, "key0"), &root, &why), ERR_MALFORMED);
		assert_non_null(strstr(why, "duplicate member name"));
		assert_int_equal(parse(object_of(count, last), &root, NULL), ERR_MALFORMED);
	}
}

static void names_with_equal_beginnings_are_distinct(void **state attr_unused)
{
	/* Beyond the 8 bytes that are compared first, in a small and a large object. */
	static const int COUNTS[] = {2, 40};
	for (size_t c = 0; c < ARRAY_LEN(COUNTS); c++) {
		struct buf text = {.arena = arena};
		buf_puts(&text, "{");
		for (int i = 0; i < COUNTS[c]; i++)
			buf_printf(&text, "\"same beginning %d\":0,\"%.*s\":0,", i, i + 1,
			           "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz");
		yyjson_val *root;
		char *good = arena_printf(arena, "%s\"last\":0}", text.data);
		char *bad = arena_printf(arena, "%s\"same beginning 0\":0}", text.data);
		assert_int_equal(parse(good, &root, NULL), ERR_NONE);
		assert_int_equal(parse(bad, &root, NULL), ERR_MALFORMED);
	}
}

static void absent_members_and_other_types_give_the_fallback(void **state attr_unused)
{
	yyjson_val *root = parsed("{\"text\":\"abc\",\"int\":-7,\"float\":1.5,\"true\":true,"
	                          "\"null\":null,\"large\":9223372036854775808,\"list\":[1]}");
	assert_string_equal(json_get_text(root, "text"), "abc");
	assert_null(json_get_text(root, "int"));
	assert_null(json_get_text(root, "null"));
	assert_null(json_get_text(root, "absent"));
	assert_int_equal(json_get_int(root, "int", 5), -7);
	assert_int_equal(json_get_int(root, "float", 5), 5);
	assert_int_equal(json_get_int(root, "text", 5), 5);
	assert_int_equal(json_get_int(root, "large", 5), 5);
	assert_int_equal(json_get_int(root, "absent", -5), -5);
	assert_true(json_get_float(root, "float", 0) == 1.5);
	assert_true(json_get_float(root, "int", 0) == -7);
	assert_true(json_get_float(root, "large", 0) == 9223372036854775808.0);
	assert_true(json_get_float(root, "true", 2.5) == 2.5);
	assert_true(json_get_bool(root, "true", false));
	assert_true(json_get_bool(root, "int", true));
	assert_false(json_get_bool(root, "absent", false));
	assert_int_equal(yyjson_arr_size(json_get(root, "list")), 1);
	assert_null(json_get(root, "absent"));
	assert_null(json_get(json_get(root, "list"), "int"));
	assert_null(json_get(NULL, "int"));
	assert_null(json_get_text(NULL, "text"));
}

static void documents_are_built_in_the_arena(void **state attr_unused)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	for (int i = 0; i < 10000; i++)
		yyjson_mut_arr_add_int(doc, list, i);
	size_t length;
	char *text = json_write_mut(arena, list, &length);
	assert_int_equal(strlen(text), length);
	assert_memory_equal(text, "[0,1,2,", 7);
	assert_string_equal(text + length - 6, ",9999]");
	assert_string_equal(json_write_mut(arena, yyjson_mut_obj(doc), NULL), "{}");
}

static void invalid_values_are_written_as_valid_json(void **state attr_unused)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_real(doc, root, "nan", NAN);
	yyjson_mut_obj_add_real(doc, root, "inf", -INFINITY);
	yyjson_mut_obj_add_str(doc, root, "cut", "a\xe2\x82");
	yyjson_mut_obj_add_str(doc, root, "byte", "\xff\"\xc3\xa4\n");
	size_t length;
	char *text = json_write_mut(arena, root, &length);
	assert_string_equal(text,
	                    "{\"nan\":null,\"inf\":null,\"cut\":\"a\xef\xbf\xbd\xef\xbf\xbd\","
	                    "\"byte\":\"\xef\xbf\xbd\\\"\xc3\xa4\\n\"}");
	assert_int_equal(length, strlen(text));
	parsed(text);
}

static void strings_are_quoted(void **state attr_unused)
{
	static const struct {
		const char *text, *quoted;
	} ROWS[] = {
		{"", "\"\""},
		{"plain", "\"plain\""},
		{"\"\\/", "\"\\\"\\\\/\""},
		{"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
		{"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	         "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
	         "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\""},
		{"\x80", "\"\xef\xbf\xbd\""},
		{"a\xc3", "\"a\xef\xbf\xbd\""},
		{"\xc3\"", "\"\xef\xbf\xbd\\\"\""},
		{"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xe0\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xff\xfe", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct buf out = {.arena = arena};
		json_quote(&out, ROWS[i].text, strlen(ROWS[i].text));
		assert_string_equal(out.data, ROWS[i].quoted);
		parsed(out.data);
	}
	struct buf out = {.arena = arena};
	json_quote(&out, "a\0b", 3);
	json_quote(&out, "\xe2\x82\xac", 2); /* cut by its length */
	assert_string_equal(out.data, "\"a\\u0000b\"\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void strings_are_quoted_for_a_terminal(void **state attr_unused)
{
	static const char TEXT[] = "\x1b[31m \xc2\x9b\x7f \xe2\x80\xae \xc3\xa4\xff\n\"";
	struct buf out = {.arena = arena};
	json_quote_for_terminal(&out, TEXT, strlen(TEXT));
	assert_string_equal(out.data, "\"\\u001b[31m \\u009b\\u007f \\u202e "
	                              "\xc3\xa4\xef\xbf\xbd\\n\\\"\"");
}

static void members_are_visited(void **state attr_unused)
{
	size_t index, count, seen = 0;
	yyjson_val *name, *value, *object = parsed("{\"a\": 1, \"b\": [2], \"c\": {}}");
	json_obj_foreach (object, index, count, name, value)
		assert_ptr_equal(json_get(object, yyjson_get_str(name)), value), seen++;
	assert_int_equal(seen, 3);
	yyjson_val *const NONE[] = {NULL, parsed("{}"), parsed("[]"), parsed("[1]"), parsed("5")};
	for (size_t i = 0; i < ARRAY_LEN(NONE); i++)
		json_obj_foreach (NONE[i], index, count, name, value)
			fail();
}

static void every_character_survives_quoting(void **state attr_unused)
{
	for (uint32_t c = 1; c <= 0x10ffff; c += c < 0x3000 ? 1 : 97) {
		char text[5] = {0};
		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		if (c < 0x80) {
			text[0] = (char)c;
		} else if (c < 0x800) {
			text[0] = (char)(0xc0 | c >> 6);
			text[1] = (char)(0x80 | (c & 63));
		} else {
			bool is_long = c >= 0x10000;
			char *at = text;
			*at++ = (char)(is_long ? 0xf0 | c >> 18 : 0xe0 | c >> 12);
			if (is_long)
				*at++ = (char)(0x80 | (c >> 12 & 63));
			*at++ = (char)(0x80 | (c >> 6 & 63));
			*at = (char)(0x80 | (c & 63));
		}
		struct arena *own = arena_new();
		struct buf out = {.arena = own};
		yyjson_val *root;
		json_quote(&out, text, strlen(text));
		assert_int_equal(json_parse(own, out.data, out.length, &root, NULL), ERR_NONE);
		assert_string_equal(yyjson_get_str(root), text);
		out = (struct buf){.arena = own};
		json_quote_for_terminal(&out, text, strlen(text));
		assert_int_equal(json_parse(own, out.data, out.length, &root, NULL), ERR_NONE);
		assert_string_equal(yyjson_get_str(root), text);
		arena_free(own);
	}
}

static const char *leniently_read(const char *text, size_t length)
{
	yyjson_val *root, *again;
	assert_int_equal(json_parse_lenient(arena, text, length, SIZE_MAX, &root, NULL), ERR_NONE);
	const char *written = json_write(arena, root, NULL);
	assert_int_equal(parse(written, &again, NULL), ERR_NONE);
	return written;
}

#define BAD "\xef\xbf\xbd"

static void lenient_reading_replaces_what_is_not_taken(void **state attr_unused)
{
	static const struct {
		const char *text, *written;
	} ROWS[] = {
		{"\"a\\u0000b\"", "\"a" BAD "b\""},
		{"\"\\\\u0000\"", "\"\\\\u0000\""}, /* an escaped backslash, then text */
		{"{\"\\u0000\":1}", "{\"" BAD "\":1}"},
		{"\"\\ud800\"", "\"" BAD "\""},
		{"\"\\udc00x\"", "\"" BAD "x\""},
		{"\"\\uD83D\\uD83D\\uDE00\"", "\"" BAD "\xf0\x9f\x98\x80\""},
		{"\"\\ud83d\\n\"", "\"" BAD "\\n\""},
		{"\"\\ud83d\"", "\"" BAD "\""},
		{"\"\xff\xc3\"", "\"" BAD BAD "\""},
		{"\"\xed\xa0\x80\"", "\"" BAD BAD BAD "\""},
		{"\"a\tb\nc\x01\"", "\"a\\tb\\nc" BAD "\""},
		{"\xef\xbb\xbf[1]", "[1]"},
		{"[1e999,-1e999]", "[null,null]"},
		{"[\"\\\"\",\"]\"]", "[\"\\\"\",\"]\"]"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(leniently_read(ROWS[i].text, strlen(ROWS[i].text)),
		                    ROWS[i].written);
	assert_string_equal(leniently_read("\"a\0b\"", 5), "\"a" BAD "b\"");
}

static void lenient_reading_takes_the_first_of_two(void **state attr_unused)
{
	static const char TEXT[] = "{\"a\":1,\"a\":2}";
	yyjson_val *root;
	assert_int_equal(json_parse_lenient(arena, TEXT, strlen(TEXT), SIZE_MAX, &root, NULL),
	                 ERR_NONE);
	assert_int_equal(json_get_int(root, "a", 0), 1);
}

static void lenient_reading_cuts_depth(void **state attr_unused)
{
	struct buf text = {.arena = arena};
	buf_puts(&text, "{\"deep\":");
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, i % 2 ? "{\"x]\":" : "[");
	buf_puts(&text, "0");
	for (int i = 100000; i-- > 0;)
		buf_puts(&text, i % 2 ? "}" : "]");
	buf_puts(&text, ",\"id\":7}");
	yyjson_val *root;
	size_t before = arena_size_bytes(arena);
	assert_int_equal(json_parse_lenient(arena, text.data, text.length, 1000, &root, NULL),
	                 ERR_NONE);
	assert_int_equal(json_get_int(root, "id", 0), 7);
	assert_in_range(arena_size_bytes(arena) - before, 0, 32768);
}

static void lenient_reading_refuses_what_is_not_json(void **state attr_unused)
{
	static const char *const TEXTS[] = {"",        "[",         "\"a",     "\"a\\",
	                                    "{\"a\"}", "\"\\u12\"", "\"\\x\"", "[1]x",
	                                    "<html>",  "[1,]",      "\xff",    "]"};
	yyjson_val *root;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_int_equal(json_parse_lenient(arena, TEXTS[i], strlen(TEXTS[i]), SIZE_MAX,
		                                    &root, NULL),
		                 ERR_MALFORMED);
	assert_int_equal(json_parse_lenient(arena, NULL, 0, 1, &root, NULL), ERR_MALFORMED);
	assert_int_equal(json_parse_lenient(arena, "[1,2]", 5, 2, &root, NULL), ERR_TOO_LARGE);
}

static void a_filter_leaves_members_and_long_texts_out(void **state attr_unused)
{
	static const char *const MEMBERS[] = {"a", "repo", NULL};
	const struct json_filter filter = {.members = MEMBERS, .text_max = 4};
	static const struct {
		const char *text, *kept;
	} ROWS[] = {
		{"{\"a\":[1,{\"b\":2}],\"b\":[1,{\"a\":\"]}\"}],\"ab\" : {} ,\"repo\":\"1234\"}",
	         "{\"a\":[1,{\"b\":2}],\"b\":null,\"ab\" :null ,\"repo\":\"1234\"}"},
		{"{\"a\":\"12345\",\"x\":tru,\"long name\":1}",
	         "{\"a\":\"\",\"x\":null,\"\":null}"},
		{"{\"x\":\"\\\"\",\"a\":1}", "{\"x\":null,\"a\":1}"},
		{"[{\"x\":1}]", "[{\"x\":1}]"},
		{"{\"x\":", "{\"x\":null"},
		{"{\"x\":\"", "{\"x\":null"},
		{"{\"rep", "{\"rep"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct json_repaired kept =
			json_repair(arena, ROWS[i].text, strlen(ROWS[i].text), &filter, 1);
		assert_string_equal(kept.text, ROWS[i].kept);
	}
}

static void a_filter_lets_some_texts_be_longer(void **state attr_unused)
{
	static const char *const LONG[] = {"body", NULL};
	const struct json_filter filter = {.text_max = 4, .long_texts = LONG, .long_text_max = 6};
	static const struct {
		const char *text, *kept;
	} ROWS[] = {
		{"{\"a\":{\"body\" : \n\"123456\",\"b\":\"12345\"}}",
	         "{\"a\":{\"body\" : \n\"123456\",\"b\":\"\"}}"},
		{"{\"body\":\"1234567\"}", "{\"body\":\"\"}"},
		{"{\"body\":[\"12345\"]}", "{\"body\":[\"\"]}"},
		{"{\"body\":1,\"12345\":\"body\",\"b\":\"12345\"}",
	         "{\"body\":1,\"\":\"body\",\"b\":\"\"}"},
		{"[\"body\",\"12345\"]", "[\"body\",\"\"]"},
		{":\"12345\"", ":\"\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct json_repaired kept =
			json_repair(arena, ROWS[i].text, strlen(ROWS[i].text), &filter, 1);
		assert_string_equal(kept.text, ROWS[i].kept);
	}
}

static void whole_numbers_are_integers_in_any_spelling(void **state attr_unused)
{
	static const struct {
		const char *text;
		bool is_whole;
		int64_t number;
		const char *spelled; /* NULL: the same */
	} ROWS[] = {
		{"5", true, 5, NULL},
		{"-5", true, -5, NULL},
		{"5.0", true, 5, "5"},
		{"-5.0", true, -5, "-5"},
		{"1e3", true, 1000, "1000"},
		{"1.25E+2", true, 125, "125"},
		{"100e-2", true, 1, "1"},
		{"-0.0", true, 0, "0"},
		{"9223372036854775807", true, INT64_MAX, NULL},
		{"-9223372036854775808", true, INT64_MIN, NULL},
		{"9007199254740991.0", true, 9007199254740991, "9007199254740991"},
		{"-9007199254740991.0", true, -9007199254740991, "-9007199254740991"},
		{"9007199254740992.0", false, 0, NULL},
		{"9007199254740993.0", false, 0, "9007199254740992.0"},
		{"-9007199254740992.0", false, 0, NULL},
		{"1e300", false, 0, NULL},
		{"9223372036854775808", false, 0, NULL},
		{"1.5", false, 0, NULL},
		{"1e-3", false, 0, "0.001"},
		{"\"5\"", false, 0, NULL},
		{"true", false, 0, NULL},
		{"[5.0]", false, 0, NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		yyjson_val *value = parsed(ROWS[i].text);
		int64_t number = 0;
		assert_int_equal(json_is_whole(value, &number), ROWS[i].is_whole);
		assert_int_equal(number, ROWS[i].number);
		json_spell_whole(value);
		assert_string_equal(json_write(arena, value, NULL),
		                    ROWS[i].spelled ? ROWS[i].spelled : ROWS[i].text);
		/* The type of the value is the one that the reader gives to that text. */
		yyjson_val *again = parsed(json_write(arena, value, NULL));
		assert_int_equal(yyjson_get_tag(value), yyjson_get_tag(again));
	}
	assert_int_equal(json_get_int(parsed("{\"n\":1e3}"), "n", -1), 1000);
	assert_int_equal(json_get_int(parsed("{\"n\":1.5}"), "n", -1), -1);
	json_spell_whole(NULL);
}

static void digits_of_numbers_are_counted_as_postgres_writes_them(void **state)
{
	(void)state;
	assert_int_equal(json_digits(parsed("[1, 12345678901234567890, 0.5, 0.0, 1e16, -1.5e-5]")),
	                 0);
	assert_int_equal(json_digits(parsed("1e300")), 300);
	assert_int_equal(json_digits(parsed("{\"a\":[-1e308],\"b\":{\"c\":1e-300}}")), 608);
	assert_int_equal(json_digits(parsed("[5e-324,\"1e300\"]")), 323);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(digits_of_numbers_are_counted_as_postgres_writes_them),
		ARENA_TEST(valid_text_is_read_and_written),
		ARENA_TEST(invalid_text_is_refused),
		ARENA_TEST(only_length_bytes_are_read),
		ARENA_TEST(faults_name_the_byte),
		ARENA_TEST(depth_is_bounded),
		ARENA_TEST(values_are_counted),
		ARENA_TEST(memory_is_as_counted),
		ARENA_TEST(values_can_be_bounded),
		ARENA_TEST(duplicates_are_found_in_objects_of_any_size),
		ARENA_TEST(names_with_equal_beginnings_are_distinct),
		ARENA_TEST(absent_members_and_other_types_give_the_fallback),
		ARENA_TEST(whole_numbers_are_integers_in_any_spelling),
		ARENA_TEST(documents_are_built_in_the_arena),
		ARENA_TEST(invalid_values_are_written_as_valid_json),
		ARENA_TEST(strings_are_quoted),
		ARENA_TEST(strings_are_quoted_for_a_terminal),
		ARENA_TEST(members_are_visited),
		ARENA_TEST(every_character_survives_quoting),
		ARENA_TEST(lenient_reading_replaces_what_is_not_taken),
		ARENA_TEST(lenient_reading_takes_the_first_of_two),
		ARENA_TEST(lenient_reading_cuts_depth),
		ARENA_TEST(lenient_reading_refuses_what_is_not_json),
		ARENA_TEST(a_filter_leaves_members_and_long_texts_out),
		ARENA_TEST(a_filter_lets_some_texts_be_longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
