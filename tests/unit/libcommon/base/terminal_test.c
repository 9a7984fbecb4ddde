#include "base/terminal.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* As a part of a line; `printed` as text of several lines where that differs. */
static const struct {
	const char *text, *shown, *printed;
} CASES[] = {
	{"", "", NULL},
	{"plain \"text\" \\ é 漢 😀", "plain \"text\" \\ é 漢 😀", NULL},
	{"a\nb\tc", "a\\nb\\tc", "a\nb\tc"},
	{"\x1b]0;title\a\x1b[2J", "\\u001b]0;title\\u0007\\u001b[2J", NULL},
	{"50%\r100%\b", "50%\\r100%\\b", NULL},
	{"\x01\x7f", "\\u0001\\u007f", NULL},
	{"\xc2\x80 \xc2\x9b\x33\x31m \xc2\x9f \xc2\xa0", "\\u0080 \\u009b31m \\u009f \xc2\xa0",
         NULL},
	{"\xe2\x80\xae\x74xt.exe\xe2\x80\xac", "\\u202etxt.exe\\u202c", NULL},
	{"\xe2\x81\xa6x\xe2\x81\xa9 \xd8\x9c \xe2\x80\x8e\xe2\x80\x8f",
         "\\u2066x\\u2069 \\u061c \\u200e\\u200f", NULL},
	{"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029", NULL},
	{"a zero-width\xe2\x80\x8djoiner", "a zero-width\xe2\x80\x8djoiner", NULL},
	{"\x9b\x33\x31m \xff\xc0\x9b \xed\xa0\x80", "\\x9b31m \\xff\\xc0\\x9b \\xed\\xa0\\x80",
         NULL},
	{"cut \xe2\x80", "cut \\xe2\\x80", NULL},
};

static void a_part_of_a_line(void **state attr_unused)
{
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_string_equal(terminal_text(arena, CASES[i].text), CASES[i].shown);
	assert_string_equal(terminal_text(arena, NULL), "");
	arena_free(arena);
}

static void several_lines(void **state attr_unused)
{
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		char *printed = NULL;
		size_t length;
		FILE *out = open_memstream(&printed, &length);
		assert_non_null(out);
		terminal_print(out, CASES[i].text, strlen(CASES[i].text));
		fclose(out);
		assert_string_equal(printed, CASES[i].printed ? CASES[i].printed : CASES[i].shown);
		free(printed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_of_a_line),
		cmocka_unit_test(several_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
