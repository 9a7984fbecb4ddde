#include "webhook/webhook_signature.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The example of the code host's documentation, "Validating webhook deliveries". */
#define SECRET    "It's a Secret to Everybody"
#define CONTENT   "Hello, World!"
#define SIGNATURE "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

static struct webhook_secrets secrets;

static int check(const char *signature, const char *content)
{
	return webhook_signature_check(&secrets, signature, content, strlen(content));
}

static void the_documented_example_is_accepted(void **state)
{
	(void)state;
	assert_null(webhook_secrets_read(SECRET, &secrets));
	assert_int_equal(check(SIGNATURE, CONTENT), 1);
}

static void each_secret_is_accepted_and_numbered(void **state)
{
	(void)state;
	assert_null(webhook_secrets_read("another secret 1234," SECRET ",yet another 123456",
	                                 &secrets));
	assert_int_equal(check(SIGNATURE, CONTENT), 2);
}

static void anything_else_is_refused(void **state)
{
	static const char *const SIGNATURES[] = {
		"",
		"sha256=",
		"sha256=757107ea",
		SIGNATURE "00",
		SIGNATURE " ",
		"sha1=757107ea0eb2509fc211221cce984b8a37570b6d",
		"757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
		"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1x",
		"sha256=857107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
		"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e16",
	};
	(void)state;
	assert_null(webhook_secrets_read(SECRET, &secrets));
	for (size_t i = 0; i < ARRAY_LEN(SIGNATURES); i++)
		assert_int_equal(check(SIGNATURES[i], CONTENT), 0);
	assert_int_equal(check(NULL, CONTENT), 0);
	assert_int_equal(check(SIGNATURE, "Hello, World?"), 0);
	assert_int_equal(check(SIGNATURE, CONTENT " "), 0);
	assert_null(webhook_secrets_read("a secret that was changed", &secrets));
	assert_int_equal(check(SIGNATURE, CONTENT), 0);
	assert_null(webhook_secrets_read("", &secrets));
	assert_int_equal(check(SIGNATURE, CONTENT), 0);
}

static void secrets_that_are_too_short_or_too_many_are_named(void **state)
{
	(void)state;
	assert_non_null(webhook_secrets_read("short", &secrets));
	assert_non_null(webhook_secrets_read(SECRET ",,", &secrets));
	assert_non_null(webhook_secrets_read(SECRET "," SECRET "," SECRET "," SECRET "," SECRET
	                                            "," SECRET "," SECRET "," SECRET "," SECRET,
	                                     &secrets));
}

static void the_stored_one_is_a_word_of_the_list(void **state)
{
	(void)state;
	assert_null(webhook_secrets_read("stored," SECRET, &secrets));
	assert_true(secrets.has_stored);
	assert_int_equal(check(SIGNATURE, CONTENT), 1);
	assert_null(webhook_secrets_read("stored", &secrets));
	assert_true(secrets.has_stored);
	assert_int_equal(secrets.count, 0);
	assert_null(webhook_secrets_read(SECRET, &secrets));
	assert_false(secrets.has_stored);
	assert_non_null(webhook_secrets_read("stored1," SECRET, &secrets));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documented_example_is_accepted),
		cmocka_unit_test(each_secret_is_accepted_and_numbered),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(secrets_that_are_too_short_or_too_many_are_named),
		cmocka_unit_test(the_stored_one_is_a_word_of_the_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
