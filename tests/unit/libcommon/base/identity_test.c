#include "base/identity.h"

#include "base/base.h"
#include "base/crypto.h"
#include "base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS INT64_C(1767225600000)

struct fixture {
	struct arena *arena;
	struct identity_signer *signer;
	struct identity identity;
};

static int setup(void **state)
{
	static struct fixture f;
	f.arena = arena_new();
	f.signer = identity_signer_new("a secret of the tests");
	f.identity = (struct identity){
		.account = uuid_new(),
		.key_id = uuid_new(),
		.kind = KEY_AUTOMATION,
		.scopes = SCOPE_ALL,
		.repo = "owner/name",
		.interest = "0197a000-0000-7000-8000-000000000001",
	};
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	identity_signer_free(f->signer);
	arena_free(f->arena);
	return 0;
}

static char *sign(struct fixture *f)
{
	return identity_sign(f->signer, f->arena, &f->identity, "req-1", NOW_MS);
}

static void a_signed_identity_is_read(void **state)
{
	struct fixture *f = *state;
	struct identity read;
	assert_int_equal(identity_verify(f->signer, f->arena, sign(f), NOW_MS, &read), ERR_NONE);
	assert_true(uuid_equal(&read.account, &f->identity.account));
	assert_true(uuid_equal(&read.key_id, &f->identity.key_id));
	assert_int_equal(read.kind, KEY_AUTOMATION);
	assert_int_equal(read.scopes, SCOPE_ALL);
	assert_string_equal(read.repo, f->identity.repo);
	assert_string_equal(read.interest, f->identity.interest);
}

static void absent_fields_stay_absent(void **state)
{
	struct fixture *f = *state;
	struct identity read;
	f->identity = (struct identity){.account = uuid_new(), .kind = KEY_SERVICE};
	assert_int_equal(identity_verify(f->signer, f->arena, sign(f), NOW_MS, &read), ERR_NONE);
	assert_true(uuid_is_nil(&read.key_id));
	assert_int_equal(read.kind, KEY_SERVICE);
	assert_int_equal(read.scopes, SCOPE_NONE);
	assert_null(read.repo);
	assert_null(read.interest);
}

static void a_value_expires(void **state)
{
	struct fixture *f = *state;
	struct identity read;
	const char *value = sign(f);
	assert_int_equal(identity_verify(f->signer, f->arena, value, NOW_MS + IDENTITY_TTL_MS - 1,
	                                 &read),
	                 ERR_NONE);
	assert_int_equal(identity_verify(f->signer, f->arena, value, NOW_MS + IDENTITY_TTL_MS,
	                                 &read),
	                 ERR_UNAUTHENTICATED);
}

static void another_secret_is_refused(void **state)
{
	struct fixture *f = *state;
	struct identity read;
	struct identity_signer *other = identity_signer_new("another secret");
	assert_int_equal(identity_verify(other, f->arena, sign(f), NOW_MS, &read),
	                 ERR_UNAUTHENTICATED);
	identity_signer_free(other);
}

/* Each character changed, and each prefix. */
static void changed_values_are_refused(void **state)
{
	struct fixture *f = *state;
	struct identity read;
	const char *value = sign(f);
	size_t length = strlen(value);
	for (size_t i = 0; i < length; i++) {
		char *damaged = arena_strdup(f->arena, value);
		damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
		assert_int_equal(identity_verify(f->signer, f->arena, damaged, NOW_MS, &read),
		                 ERR_UNAUTHENTICATED);
		damaged[i] = '\0';
		assert_int_equal(identity_verify(f->signer, f->arena, damaged, NOW_MS, &read),
		                 ERR_UNAUTHENTICATED);
	}
	const char *longer = arena_printf(f->arena, "%sA", value);
	assert_int_equal(identity_verify(f->signer, f->arena, longer, NOW_MS, &read),
	                 ERR_UNAUTHENTICATED);
}

/* Signed correctly, but not of the form that identity_sign() writes. */
static void invalid_fields_are_refused(void **state)
{
	static const char A[] = "0197a000-0000-7000-8000-000000000001";
	static const char *const FORMATS[] = {
		"2|%s|%s|personal|3f|1767225660000||||",
		"2|%s|%s|personal|3f|1767225660000|||",
		"1|%s|%s|personal|3f|1767225660000||",
		"1|%s|%s|owner|3f|1767225660000|||",
		"1|%s|%s|personal||1767225660000|||",
		"1|%s|%s|personal|-1|1767225660000|||",
		"1|%s|%s|personal|3F|1767225660000|||",
		"1|%s|%s|personal|3f||||",
		"1|%s|%s|personal|3f|+1767225660000|||",
		"1|%s|%s|personal|3f|99999999999999999999|||",
		"1|%s|%.35s|personal|3f|1767225660000|||",
		"1|%s|%s|personal|3f|1767225660000|a|b|c|d",
		"1|%s|%s|",
		"",
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(FORMATS); i++) {
		struct identity read;
		const char *text = arena_printf(f->arena, FORMATS[i], A, A);
		uint8_t mac[SHA256_LEN];
		hmac_sha256("a secret of the tests", 21, text, strlen(text), mac);
		const char *value = arena_printf(f->arena, "%s.%s",
		                                 base64url_encode(f->arena, text, strlen(text)),
		                                 base64url_encode(f->arena, mac, sizeof(mac)));
		if (identity_verify(f->signer, f->arena, value, NOW_MS, &read) !=
		    ERR_UNAUTHENTICATED)
			fail_msg("'%s' was taken", text);
	}
}

static void empty_values_are_refused(void **state)
{
	struct fixture *f = *state;
	static const char *const VALUES[] = {"", ".", "a", "a.", ".a", "a.b.c", "!.!"};
	struct identity read;
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++)
		assert_int_equal(identity_verify(f->signer, f->arena, VALUES[i], NOW_MS, &read),
		                 ERR_UNAUTHENTICATED);
	assert_int_equal(identity_verify(f->signer, f->arena, NULL, NOW_MS, &read),
	                 ERR_UNAUTHENTICATED);
	char *huge = arena_alloc(f->arena, 100001);
	memset(huge, 'A', 100000);
	assert_int_equal(identity_verify(f->signer, f->arena, huge, NOW_MS, &read),
	                 ERR_UNAUTHENTICATED);
}

/* A separator inside a field must not make another identity. */
static void separators_in_fields_are_refused(void **state)
{
	struct fixture *f = *state;
	struct identity read;
	f->identity.repo = "owner/name|x";
	assert_int_equal(identity_verify(f->signer, f->arena, sign(f), NOW_MS, &read),
	                 ERR_UNAUTHENTICATED);
}

static void kinds_have_names(void **state attr_unused)
{
	assert_string_equal(key_kind_name(KEY_PERSONAL), "personal");
	assert_string_equal(key_kind_name(KEY_AUTOMATION), "automation");
	assert_string_equal(key_kind_name(KEY_SERVICE), "service");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_signed_identity_is_read),
		TEST(absent_fields_stay_absent),
		TEST(a_value_expires),
		TEST(another_secret_is_refused),
		TEST(changed_values_are_refused),
		TEST(invalid_fields_are_refused),
		TEST(empty_values_are_refused),
		TEST(separators_in_fields_are_refused),
		TEST(kinds_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
