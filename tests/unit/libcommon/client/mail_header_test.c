#include "client/mail_header.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <string.h>

static void a_plain_value_stays_as_it_is(void **state attr_unused)
{
	assert_string_equal(mail_header_write(arena, "Subject", "A title: x <y>"),
	                    "Subject: A title: x <y>");
}

static void a_line_end_becomes_a_space(void **state attr_unused)
{
	assert_string_equal(mail_header_write(arena, "Subject", "a\r\nBcc: b@c.d\x7f"),
	                    "Subject: a  Bcc: b@c.d ");
}

static void other_texts_are_encoded_words(void **state attr_unused)
{
	assert_string_equal(mail_header_write(arena, "Subject", "é\n"),
	                    "Subject: =?UTF-8?B?w6kg?=");
	assert_string_equal(mail_header_write(arena, "Subject", "=?x?"),
	                    "Subject: =?UTF-8?B?PT94Pw==?=");
}

/* RFC 2047 section 2: no word over 75 characters, no line with one over 76; section 5: none ends
 * within a character. */
static void long_ones_are_folded_between_characters(void **state attr_unused)
{
	struct buf text = {.arena = arena};
	for (int i = 0; i < 100; i++)
		buf_puts(&text, "üa");
	const char *line = mail_header_write(arena, "Subject", text.data);
	assert_int_equal(strncmp(line, "Subject: =?UTF-8?B?", 19), 0);
	for (size_t length; *line; line += length + strspn(line + length, "\r\n")) {
		length = strcspn(line, "\r");
		assert_true(length <= 76);
		assert_true(strncmp(line + length - 2, "?=", 2) == 0);
	}
}

static void a_plain_value_that_is_too_long_is_encoded(void **state attr_unused)
{
	char text[2000];
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_non_null(strstr(mail_header_write(arena, "Subject", text), "\r\n =?UTF-8?B?"));
}

static void an_address_needs_no_quotes(void **state attr_unused)
{
	static const char *const GOOD[] = {"a@b", "ada.l+x@example.org", "o'hara@a-b.example"};
	static const char *const BAD[] = {"",      "a",      "@b",        "a@",      "a@b@c",
	                                  "a b@c", "a@b..c", "a@.b",      "a@-b",    "a@b-",
	                                  "<a@b>", "a@b,c",  "a@b\r\nX:", "\"a\"@b", "a@[::1]",
	                                  "a@b.",  "é@b",    "a@é"};
	const char *why;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
		assert_true(mail_address_check(GOOD[i], strlen(GOOD[i]), &why));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		assert_false(mail_address_check(BAD[i], strlen(BAD[i]), &why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_value_stays_as_it_is),
		cmocka_unit_test(a_line_end_becomes_a_space),
		cmocka_unit_test(other_texts_are_encoded_words),
		cmocka_unit_test(long_ones_are_folded_between_characters),
		cmocka_unit_test(a_plain_value_that_is_too_long_is_encoded),
		cmocka_unit_test(an_address_needs_no_quotes),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
