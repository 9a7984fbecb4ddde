#include "provider/reason.h"

#include "arena_fixture.h"
#include "base/utf8.h"

#include <string.h>

static const char *const NONE[] = {NULL};

static void words_are_kept(void **state attr_unused)
{
	assert_string_equal(reason_clean(arena, "the code was used already", NONE),
	                    "the code was used already");
	assert_null(reason_clean(arena, NULL, NONE));
	assert_null(reason_clean(arena, "", NONE));
}

static void secrets_are_masked(void **state attr_unused)
{
	const char *const secrets[] = {"abcdefgh", "abcdefghij", NULL};
	assert_string_equal(reason_clean(arena, "abcdefghij, xabcdefgh and ab", secrets),
	                    "***, x*** and ab");
}

static void words_that_a_short_secret_occurs_in_are_kept(void **state attr_unused)
{
	const char *const secrets[] = {"bad", "abcdefg", "", NULL};
	assert_string_equal(reason_clean(arena, "bad_verification_code abcdefgh", secrets),
	                    "bad_verification_code abcdefgh");
	assert_string_equal(reason_clean(arena, "abcdefg is bad, not \"bad\" or bad-ly", secrets),
	                    "*** is ***, not \"***\" or bad-ly");
}

static void control_characters_and_broken_text_become_spaces(void **state attr_unused)
{
	assert_string_equal(reason_clean(arena,
	                                 "a\nb\x7F"
	                                 "c\xFF"
	                                 "d\xC3",
	                                 NONE),
	                    "a b c d ");
}

static void long_words_are_cut_between_characters(void **state attr_unused)
{
	struct buf text = {.arena = arena};
	buf_puts(&text, "x");
	for (int i = 0; i < 400; i++)
		buf_puts(&text, "\u20ac");
	const char *cut = reason_clean(arena, text.data, NONE);
	assert_int_equal(strlen(cut), 298);
	assert_true(utf8_is_valid(cut, strlen(cut)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_kept),
		cmocka_unit_test(secrets_are_masked),
		cmocka_unit_test(words_that_a_short_secret_occurs_in_are_kept),
		cmocka_unit_test(control_characters_and_broken_text_become_spaces),
		cmocka_unit_test(long_words_are_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
