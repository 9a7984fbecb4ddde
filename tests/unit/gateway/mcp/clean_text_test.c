#include "mcp/clean_text.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "base/outside_text.h"

#include <string.h>

#define BREAK "\xe2\x80\x8b" /* U+200B */
#define ZWNJ  "\xe2\x80\x8c"
#define ZWJ   "\xe2\x80\x8d"
#define LRM   "\xe2\x80\x8e"
#define MAN   "\xf0\x9f\x91\xa8"
#define ALEF  "\xd8\xa7"

static const char *cleaned(const char *text)
{
	size_t length;
	const char *clean = clean_text(arena, text, strlen(text), &length);
	return arena_strndup(arena, clean, length);
}

static void what_nobody_sees_is_removed(void **state)
{
	(void)state;
	static const char *const EXAMPLES[][2] = {
		{"", ""},
		{"plain\n\ttext", "plain\n\ttext"},
		{"a" BREAK "b\x07\x1b[31m\xc2\x80", "ab[31m"},
		{"a" ZWJ "b" ZWNJ ALEF LRM, "ab" ALEF},
		{ALEF ZWJ ZWNJ ALEF, ALEF ALEF},
		{ZWJ ALEF ZWNJ, ALEF},
		{"\xff"
	         "a\xe2\x80",
	         "a"},
	};
	for (size_t i = 0; i < ARRAY_LEN(EXAMPLES); i++)
		assert_string_equal(cleaned(EXAMPLES[i][0]), EXAMPLES[i][1]);
}

static void what_was_made_inert_stays_so(void **state)
{
	(void)state;
	static const char *const TEXTS[] = {"see @acme/all", "Closes #12", "[skip ci]",
	                                    "<b> ![x](y) &amp;"};
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
		const char *inert = outside_text(arena, TEXTS[i]);
		assert_string_not_equal(inert, TEXTS[i]);
		assert_string_equal(cleaned(inert), inert);
	}
	assert_string_equal(cleaned("@" BREAK LRM BREAK "acme"), "@" BREAK "acme");
	assert_string_equal(cleaned("#\x01"
	                            "12"),
	                    "#" BREAK "12");
}

static void joined_letters_stay_so(void **state)
{
	(void)state;
	static const char *const TEXTS[] = {ALEF ZWNJ ALEF, MAN ZWJ MAN ZWJ MAN,
	                                    "\xe0\xa4\x95\xe0\xa5\x8d" ZWJ "\xe0\xa4\xb7"};
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_string_equal(cleaned(TEXTS[i]), TEXTS[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(what_nobody_sees_is_removed),
		ARENA_TEST(what_was_made_inert_stays_so),
		ARENA_TEST(joined_letters_stay_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
