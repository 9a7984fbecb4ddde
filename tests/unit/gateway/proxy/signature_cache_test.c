#include "proxy/signature_cache.h"

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
	struct signature_cache *signatures;
	struct identity caller;
};

static int setup(void **state)
{
	static struct fixture f;
	f.arena = arena_new();
	f.signer = identity_signer_new("a secret of the tests");
	f.signatures = signature_cache_new(f.signer);
	f.caller = (struct identity){
		.account = uuid_new(),
		.key_id = uuid_new(),
		.kind = KEY_AUTOMATION,
		.scopes = SCOPE_ALL,
		.repo = "owner/name",
	};
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	signature_cache_free(f->signatures);
	identity_signer_free(f->signer);
	arena_free(f->arena);
	return 0;
}

/* Sign at `now_ms`, and check that the signature contains the caller's identity. */
static char *sign(struct fixture *f, int64_t now_ms)
{
	struct identity read;
	char *value = arena_strdup(f->arena, signature_cache_get(f->signatures, f->arena,
	                                                         &f->caller, now_ms));
	assert_int_equal(identity_verify(f->signer, f->arena, value, now_ms, &read), ERR_NONE);
	assert_true(uuid_equal(&read.account, &f->caller.account));
	assert_true(uuid_equal(&read.key_id, &f->caller.key_id));
	assert_int_equal(read.kind, f->caller.kind);
	assert_int_equal(read.scopes, f->caller.scopes);
	assert_string_equal(read.repo ? read.repo : "", f->caller.repo ? f->caller.repo : "");
	assert_string_equal(read.interest ? read.interest : "",
	                    f->caller.interest ? f->caller.interest : "");
	return value;
}

static void a_signature_is_reused_for_a_second(void **state)
{
	struct fixture *f = *state;
	const char *first = sign(f, NOW_MS);
	assert_string_equal(sign(f, NOW_MS + SIGNATURE_REUSE_MS - 1), first);
	assert_string_not_equal(sign(f, NOW_MS + SIGNATURE_REUSE_MS), first);
}

static void a_clock_set_back_makes_a_new_signature(void **state)
{
	struct fixture *f = *state;
	const char *first = sign(f, NOW_MS);
	assert_string_not_equal(sign(f, NOW_MS - 1), first);
}

/* sign() checks that each signature is for the changed caller. */
static void a_changed_caller_gets_a_new_signature(void **state)
{
	struct fixture *f = *state;
	sign(f, NOW_MS);
	f->caller.scopes = scope_mask("fleet:read");
	sign(f, NOW_MS);
	f->caller.kind = KEY_PERSONAL;
	sign(f, NOW_MS);
	f->caller.repo = "owner/other";
	sign(f, NOW_MS);
	f->caller.repo = NULL;
	sign(f, NOW_MS);
	f->caller.interest = "0197a000-0000-7000-8000-000000000001";
	sign(f, NOW_MS);
	f->caller.account = uuid_new();
	sign(f, NOW_MS);
}

static void callers_with_the_same_slot_are_not_confused(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 50; i++) {
		f->caller.key_id.bytes[0] = (uint8_t)i;
		f->caller.account.bytes[0] = (uint8_t)i;
		sign(f, NOW_MS);
	}
	f->caller.key_id.bytes[0] = 0;
	f->caller.account.bytes[0] = 0;
	sign(f, NOW_MS);
}

static void identities_too_long_for_the_cache_are_signed(void **state)
{
	struct fixture *f = *state;
	char repo[400] = "o/";
	sign(f, NOW_MS);
	memset(repo + 2, 'r', 300);
	f->caller.repo = repo;
	sign(f, NOW_MS);
	repo[301] = 'x';
	sign(f, NOW_MS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_signature_is_reused_for_a_second),
		TEST(a_clock_set_back_makes_a_new_signature),
		TEST(a_changed_caller_gets_a_new_signature),
		TEST(callers_with_the_same_slot_are_not_confused),
		TEST(identities_too_long_for_the_cache_are_signed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
