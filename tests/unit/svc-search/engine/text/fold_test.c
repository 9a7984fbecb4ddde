#include "engine/text/fold.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void valid_utf8_decodes_and_invalid_bytes_give_u_fffd(void **state attr_unused)
{
	static const struct {
		const char *bytes;
		size_t length;
		uint32_t code;
		size_t size;
	} cases[] = {
		{"a", 1, 'a', 1},
		{"\xC3\xA9", 2, 0xE9, 2},
		{"\xE2\x82\xAC", 3, 0x20AC, 3},
		{"\xF0\x9F\x98\x80", 4, 0x1F600, 4},
		{"\xF4\x8F\xBF\xBF", 4, 0x10FFFF, 4},
		{"\xC3", 1, 0xFFFD, 1},             /* truncated */
		{"\xE2\x82", 2, 0xFFFD, 1},         /* truncated */
		{"\x80", 1, 0xFFFD, 1},             /* a continuation byte alone */
		{"\xC0\xAF", 2, 0xFFFD, 1},         /* overlong */
		{"\xE0\x80\xAF", 3, 0xFFFD, 1},     /* overlong */
		{"\xED\xA0\x80", 3, 0xFFFD, 1},     /* a surrogate */
		{"\xF4\x90\x80\x80", 4, 0xFFFD, 1}, /* past the end of Unicode */
		{"\xFF\xFF", 2, 0xFFFD, 1},
		{"\xC3(", 2, 0xFFFD, 1},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint32_t code = 0;
		assert_int_equal(fold_decode(cases[i].bytes, cases[i].length, &code),
		                 cases[i].size);
		assert_int_equal(code, cases[i].code);
	}
}

static void encoded_code_points_decode_to_themselves(void **state attr_unused)
{
	for (uint32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 97) {
		char bytes[4];
		size_t size = fold_encode(code, bytes);
		if (code >= 0xD800 && code < 0xE000)
			continue;
		uint32_t back;
		assert_int_equal(fold_decode(bytes, size, &back), size);
		assert_int_equal(back, code);
	}
}

static void every_code_point_folds_to_at_most_four_bytes(void **state attr_unused)
{
	for (uint32_t code = 0; code <= 0x10FFFF; code++) {
		struct folded folded = fold(code);
		bool is_silent = folded.kind == FOLD_BREAK || folded.kind == FOLD_IGNORE;
		assert_true(folded.length <= sizeof(folded.text));
		assert_int_equal(folded.length == 0, is_silent);
	}
}

static void characters_fold_as_listed(void **state attr_unused)
{
	static const struct {
		uint32_t code;
		enum fold_kind kind;
		const char *text;
		bool is_upper;
	} cases[] = {
		{'A', FOLD_LETTER, "a", true},
		{'z', FOLD_LETTER, "z", false},
		{'7', FOLD_DIGIT, "7", false},
		{'-', FOLD_SIGN, "-", false},
		{' ', FOLD_BREAK, "", false},
		{0, FOLD_BREAK, "", false},
		{0xD6, FOLD_LETTER, "o", true},
		{0xF6, FOLD_LETTER, "o", false},
		{0xDF, FOLD_LETTER, "ss", false},
		{0xE6, FOLD_LETTER, "ae", false},
		{0x141, FOLD_LETTER, "l", true},
		{0x142, FOLD_LETTER, "l", false},
		{0xD7, FOLD_BREAK, "", false},
		{0x1EC7, FOLD_LETTER, "e", false},
		{0xFB03, FOLD_LETTER, "ffi", false},
		{0x391, FOLD_LETTER, "\xCE\xB1", true},
		{0x3C2, FOLD_LETTER, "\xCF\x83", false},
		{0x416, FOLD_LETTER, "\xD0\xB6", true},
		{0xB2, FOLD_DIGIT, "2", false},
		{0x2084, FOLD_DIGIT, "4", false},
		{0x2019, FOLD_SIGN, "'", false},
		{0x2011, FOLD_SIGN, "-", false},
		{0x2014, FOLD_BREAK, "", false},
		{0x301, FOLD_IGNORE, "", false},
		{0xAD, FOLD_IGNORE, "", false},
		{0x4E2D, FOLD_IDEOGRAPH, "\xE4\xB8\xAD", false},
		{0x1D49C, FOLD_LETTER, "a", false},
		{0x1D7D8, FOLD_DIGIT, "0", false},
		{0xFFFD, FOLD_BREAK, "", false},
		{0x1F600, FOLD_BREAK, "", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct folded folded = fold(cases[i].code);
		assert_int_equal(folded.kind, cases[i].kind);
		assert_int_equal(folded.length, strlen(cases[i].text));
		assert_memory_equal(folded.text, cases[i].text, folded.length);
		assert_int_equal(folded.is_upper, cases[i].is_upper);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_utf8_decodes_and_invalid_bytes_give_u_fffd),
		cmocka_unit_test(encoded_code_points_decode_to_themselves),
		cmocka_unit_test(every_code_point_folds_to_at_most_four_bytes),
		cmocka_unit_test(characters_fold_as_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
