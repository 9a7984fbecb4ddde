#include "crypto/webhook_signature.h"

#include "arena_fixture.h"

#include <string.h>

/* The example of the specification of Standard Webhooks, as its libraries test it. */
#define SECRET    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define ID        "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define TIME      "1614265330"
#define SIGNATURE "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
#define CONTENT   "{\"test\": 2432232314}"
#define NOW       1614265330

static struct webhook_key key;

static bool check(const char *time, const char *signatures, const char *content, int64_t now_s)
{
	assert_true(webhook_secret_decode(arena, SECRET, &key));
	return webhook_signature_is_valid(&key, &(struct signed_fields){ID, time, signatures},
	                                  content, strlen(content), now_s);
}

static void the_example_of_the_specification_is_valid(void **state attr_unused)
{
	assert_true(check(TIME, SIGNATURE, CONTENT, NOW));
	assert_false(check(TIME, SIGNATURE, CONTENT " ", NOW));
	assert_false(check("1614265331", SIGNATURE, CONTENT, NOW));
}

static void one_of_several_is_enough(void **state attr_unused)
{
	assert_true(check(TIME, "v1,AAAA v2," SIGNATURE " " SIGNATURE, CONTENT, NOW));
	assert_true(check(TIME, SIGNATURE " v1,", CONTENT, NOW));
	assert_false(check(TIME, "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,AAAA",
	                   CONTENT, NOW));
}

static void it_is_valid_for_five_minutes(void **state attr_unused)
{
	assert_true(check(TIME, SIGNATURE, CONTENT, NOW + SIGNATURE_AGE_MAX_S));
	assert_true(check(TIME, SIGNATURE, CONTENT, NOW - SIGNATURE_AGE_MAX_S));
	assert_false(check(TIME, SIGNATURE, CONTENT, NOW + SIGNATURE_AGE_MAX_S + 1));
	assert_false(check(TIME, SIGNATURE, CONTENT, NOW - SIGNATURE_AGE_MAX_S - 1));
}

static void what_is_no_signature_is_refused(void **state attr_unused)
{
	static const char *const SIGNATURES[] = {NULL,  "",     " ",          "v1",
	                                         "v1,", "v1,%", "  v1, v1,=", SIGNATURE "x"};
	static const char *const TIMES[] = {NULL,          "",
	                                    "-1",          "1614265330.0",
	                                    " 1614265330", "99999999999999999999"};
	for (size_t i = 0; i < ARRAY_LEN(SIGNATURES); i++)
		assert_false(check(TIME, SIGNATURES[i], CONTENT, NOW));
	for (size_t i = 0; i < ARRAY_LEN(TIMES); i++)
		assert_false(check(TIMES[i], SIGNATURE, CONTENT, NOW));
}

static void a_sender_signs_with_each_of_its_secrets(void **state attr_unused)
{
	static const struct signed_fields FIELDS = {.id = ID, .timestamp = TIME};
	struct buf signatures = {.arena = arena};
	struct webhook_key new_key;
	assert_true(webhook_secret_decode(arena, webhook_secret_new(arena), &new_key));
	assert_int_equal(new_key.length, 32);
	assert_true(webhook_secret_decode(arena, SECRET, &key));
	webhook_signature_add(&signatures, &new_key, &FIELDS, CONTENT, strlen(CONTENT));
	assert_null(strstr(signatures.data, SIGNATURE));
	webhook_signature_add(&signatures, &key, &FIELDS, CONTENT, strlen(CONTENT));
	assert_string_equal(strchr(signatures.data, ' ') + 1, SIGNATURE);
}

static void a_secret_has_24_to_64_bytes(void **state attr_unused)
{
	static const char *const WRONG[] = {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	                                    "whsec_AAAA", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"};
	assert_true(webhook_secret_decode(arena, SECRET, &key));
	assert_int_equal(key.length, 24);
	for (size_t i = 0; i < ARRAY_LEN(WRONG); i++)
		assert_false(webhook_secret_decode(arena, WRONG[i], &key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_specification_is_valid),
		cmocka_unit_test(one_of_several_is_enough),
		cmocka_unit_test(it_is_valid_for_five_minutes),
		cmocka_unit_test(what_is_no_signature_is_refused),
		cmocka_unit_test(a_sender_signs_with_each_of_its_secrets),
		cmocka_unit_test(a_secret_has_24_to_64_bytes),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
