#include "proxy/signature_cache.h"

#include "base/base.h"
#include "crypto/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS INT64_C(1767225600000)
#define SECRET "a secret of the tests, 32 characters or more"

enum { SEARCH, INTERESTS, RECEIVERS };

static const char *const NAMES[RECEIVERS] = {"svc-search", "svc-interests"};

struct fixture {
	struct arena *arena;
	struct identity_signer *signers[RECEIVERS];
	struct identity_verifier *verifiers[RECEIVERS];
	struct signature_cache *signatures;
	struct identity caller;
};

static int setup(void **state)
{
	static struct fixture f;
	const struct identity_secret secret = {"gateway", SECRET};
	f.arena = arena_new();
	for (int i = 0; i < RECEIVERS; i++) {
		f.signers[i] = identity_signer_new("gateway", NAMES[i], SECRET);
		f.verifiers[i] = identity_verifier_new(NAMES[i], &secret, 1);
	}
	f.signatures = signature_cache_new();
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
	for (int i = 0; i < RECEIVERS; i++) {
		identity_signer_free(f->signers[i]);
		identity_verifier_free(f->verifiers[i]);
	}
	arena_free(f->arena);
	return 0;
}

/* Sign at `now_ms`, check that the value contains the caller's identity, and return when its claims
 * were signed. */
static int64_t sign_for(struct fixture *f, int receiver, const char *target, int64_t now_ms)
{
	const struct identity_request request = {
		.method = "GET",
		.method_length = 3,
		.target = target,
		.target_length = strlen(target),
		.id = "req-1",
	};
	struct verified_identity read;
	const char *value = signature_cache_sign(f->signatures, f->signers[receiver], &f->caller,
	                                         f->arena, &request, now_ms);
	assert_int_equal(identity_verify(f->verifiers[receiver], f->arena, value, &request, now_ms,
	                                 &read),
	                 ERR_NONE);
	assert_true(uuid_equal(&read.identity.account, &f->caller.account));
	assert_true(uuid_equal(&read.identity.key_id, &f->caller.key_id));
	assert_true(uuid_equal(&read.identity.person, &f->caller.person));
	assert_int_equal(read.identity.kind, f->caller.kind);
	assert_int_equal(read.identity.scopes, f->caller.scopes);
	assert_string_equal(read.identity.repo ? read.identity.repo : "",
	                    f->caller.repo ? f->caller.repo : "");
	assert_string_equal(read.identity.interest ? read.identity.interest : "",
	                    f->caller.interest ? f->caller.interest : "");
	return read.signed_ms;
}

static int64_t sign(struct fixture *f, int64_t now_ms)
{
	return sign_for(f, SEARCH, "/api/v1.0/search/assets/list", now_ms);
}

static void claims_are_reused_for_some_seconds(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(sign(f, NOW_MS), NOW_MS);
	assert_int_equal(sign(f, NOW_MS + SIGNATURE_REUSE_MS - 1), NOW_MS);
	assert_int_equal(sign(f, NOW_MS + SIGNATURE_REUSE_MS), NOW_MS + SIGNATURE_REUSE_MS);
}

static void a_clock_set_back_makes_new_claims(void **state)
{
	struct fixture *f = *state;
	sign(f, NOW_MS);
	assert_int_equal(sign(f, NOW_MS - 1), NOW_MS - 1);
}

/* sign_for() checks that each value is for its request and its receiver. */
static void requests_and_receivers_have_their_own_signatures(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 4; i++) {
		sign_for(f, SEARCH, "/a", NOW_MS);
		sign_for(f, SEARCH, "/b", NOW_MS);
		sign_for(f, INTERESTS, "/a", NOW_MS);
	}
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
	f->caller.person = uuid_new();
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

static void long_identities_are_signed(void **state)
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
		TEST(claims_are_reused_for_some_seconds),
		TEST(a_clock_set_back_makes_new_claims),
		TEST(requests_and_receivers_have_their_own_signatures),
		TEST(a_changed_caller_gets_a_new_signature),
		TEST(callers_with_the_same_slot_are_not_confused),
		TEST(long_identities_are_signed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
