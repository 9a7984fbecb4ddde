#include "key/key_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void new_keys_are_valid(void **state)
{
	(void)state;
	char key[KEY_TEXT_MAX + 1];
	key_text_make(KEY_PERSONAL, key);
	assert_int_equal(strlen(key), 42);
	assert_int_equal(strncmp(key, "usr_", 4), 0);
	assert_true(key_text_is_valid(key));
	key_text_make(KEY_AUTOMATION, key);
	assert_int_equal(strlen(key), 43);
	assert_int_equal(strncmp(key, "auto_", 5), 0);
	assert_true(key_text_is_valid(key));
}

static void mistyped_keys_are_refused(void **state)
{
	(void)state;
	char key[KEY_TEXT_MAX + 1], wrong[KEY_TEXT_MAX + 1];
	key_text_make(KEY_PERSONAL, key);
	for (size_t i = 0; i < strlen(key); i++) {
		memcpy(wrong, key, sizeof(wrong));
		wrong[i] = key[i] == 'a' ? 'b' : 'a';
		assert_false(key_text_is_valid(wrong));
	}
	for (size_t i = 4; i + 1 < strlen(key); i++) {
		if (key[i] == key[i + 1])
			continue;
		memcpy(wrong, key, sizeof(wrong));
		wrong[i] = key[i + 1];
		wrong[i + 1] = key[i];
		assert_false(key_text_is_valid(wrong));
	}
}

static void other_texts_are_refused(void **state)
{
	static const char *const TEXTS[] = {
		"",
		"usr_",
		"auto_",
		"usr_short",
		"Bearer usr_8kQ0",
		"USR_abcdefghijklmnopqrstuvwxyzABCDEF000000",
		"usr_abcdefghijklmnopqrstuvwxyz-_ABCD000000",
		("usr_abcdefghijklmnopqrstuvwxyzABCDEF"
	         "0000000000000000000000000000000000000000000000"),
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_false(key_text_is_valid(TEXTS[i]));
}

/* The checksum was computed by Python's zlib.crc32(): 0x5f45a5a9. */
static void the_checksum_is_base62_of_CRC_32(void **state)
{
	(void)state;
	assert_true(key_text_is_valid("usr_000000000000000000000000000000001kAipl"));
	assert_false(key_text_is_valid("usr_000000000000000000000000000000001kAipm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_keys_are_valid),
		cmocka_unit_test(mistyped_keys_are_refused),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(the_checksum_is_base62_of_CRC_32),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
