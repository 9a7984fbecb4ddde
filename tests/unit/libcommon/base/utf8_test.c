#include "base/utf8.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void sequences_are_validated(void **state)
{
	static const struct {
		const char *text;
		size_t length;
	} CASES[] = {
		{"a", 1},
		{"\x7F", 1},
		{"\xC2\x80", 2},
		{"\xDF\xBF", 2},
		{"\xE0\xA0\x80", 3},
		{"\xED\x9F\xBF", 3},
		{"\xEF\xBF\xBF", 3},
		{"\xF0\x90\x80\x80", 4},
		{"\xF4\x8F\xBF\xBF", 4},
		{"\x80", 0},             /* a continuation alone */
		{"\xC0\x80", 0},         /* overlong NUL */
		{"\xC1\xBF", 0},         /* overlong */
		{"\xE0\x9F\xBF", 0},     /* overlong */
		{"\xED\xA0\x80", 0},     /* surrogate */
		{"\xF0\x8F\xBF\xBF", 0}, /* overlong */
		{"\xF4\x90\x80\x80", 0}, /* above U+10FFFF */
		{"\xF5\x80\x80\x80", 0},
		{"\xC3", 0}, /* cut short */
		{"\xE2\x82", 0},
		{"\xE2\x28\xA1", 0},
		{"\xE2\x82\x28", 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_int_equal(utf8_sequence(CASES[i].text, strlen(CASES[i].text)),
		                 CASES[i].length);
	assert_int_equal(utf8_sequence("", 0), 0);
	assert_int_equal(utf8_sequence("\0", 1), 1);
}

static void texts_are_validated_and_counted(void **state)
{
	(void)state;
	assert_true(utf8_is_valid("", 0));
	assert_true(utf8_is_valid("na\xC3\xAFve \xE2\x82\xAC", 10));
	assert_false(utf8_is_valid("na\xC3", 3));
	assert_int_equal(utf8_count("na\xC3\xAFve \xE2\x82\xAC", 10), 7);
}

static void a_text_is_cut_between_characters(void **state)
{
	(void)state;
	assert_int_equal(utf8_cut("abc", 3, 3), 3);
	assert_int_equal(utf8_cut("abc", 3, 2), 2);
	assert_int_equal(utf8_cut("a\xE2\x82\xAC", 4, 4), 4);
	assert_int_equal(utf8_cut("a\xE2\x82\xAC", 4, 3), 1);
	assert_int_equal(utf8_cut("a\xE2\x82\xAC", 4, 0), 0);
	assert_int_equal(utf8_cut_points("a\xE2\x82\xAC", 4, 2), 4);
	assert_int_equal(utf8_cut_points("a\xE2\x82\xACz", 5, 2), 4);
	assert_int_equal(utf8_cut_points("a\xE2\x82\xAC", 4, 1), 1);
	assert_int_equal(utf8_cut_points("a", 1, 0), 0);
}

static void what_is_no_text_is_replaced(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t length;
		const char *text;
	} CASES[] = {
		{"", 0, ""},
		{"caf\xC3\xA9", 5, "caf\xC3\xA9"},
		{"a\0b", 3, "a" UTF8_REPLACEMENT "b"},
		{"\xFF\xFE", 2, UTF8_REPLACEMENT UTF8_REPLACEMENT},
		{"na\xEFve\xC3", 6, "na" UTF8_REPLACEMENT "ve" UTF8_REPLACEMENT},
		{"\xED\xA0\x80", 3, UTF8_REPLACEMENT UTF8_REPLACEMENT UTF8_REPLACEMENT},
	};
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct arena *arena = arena_new();
		struct buf out = {.arena = arena};
		utf8_repair(&out, CASES[i].bytes, CASES[i].length);
		buf_puts(&out, "");
		assert_string_equal(out.data, CASES[i].text);
		arena_free(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_are_validated),
		cmocka_unit_test(texts_are_validated_and_counted),
		cmocka_unit_test(a_text_is_cut_between_characters),
		cmocka_unit_test(what_is_no_text_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
