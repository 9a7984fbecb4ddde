#include "crypto/identity.h"

#include "base/base.h"
#include "crypto/crypto.h"
#include "crypto/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS INT64_C(1767225600000)
#define SECRET "a secret of the tests, 32 characters or more"
#define TARGET "/api/v1.0/search/assets/list?limit=5"

struct fixture {
	struct arena *arena;
	struct identity_signer *signer;
	struct identity_verifier *verifier;
	struct identity identity;
	struct identity_request request;
};

static struct identity_request request_of(const char *method, const char *target, const char *id)
{
	return (struct identity_request){
		.method = method,
		.method_length = strlen(method),
		.target = target,
		.target_length = strlen(target),
		.id = id,
	};
}

static int setup(void **state)
{
	static struct fixture f;
	const struct identity_secret secrets[] = {{"gateway", SECRET}};
	f.arena = arena_new();
	f.signer = identity_signer_new("gateway", "svc-search", SECRET);
	f.verifier = identity_verifier_new("svc-search", secrets, ARRAY_LEN(secrets));
	f.request = request_of("GET", TARGET, "req-1");
	f.identity = (struct identity){
		.account = uuid_new(),
		.key_id = uuid_new(),
		.kind = KEY_AUTOMATION,
		.scopes = SCOPE_ALL,
		.repo = "owner/name",
		.interest = "0197a000-0000-7000-8000-000000000001",
		.is_repo_verified = true,
	};
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	identity_signer_free(f->signer);
	identity_verifier_free(f->verifier);
	arena_free(f->arena);
	return 0;
}

static char *sign_with(struct fixture *f, const struct identity_signer *signer)
{
	struct signed_identity *signed_identity = signed_identity_new(signer, &f->identity, NOW_MS);
	char *value = identity_sign(signed_identity, f->arena, &f->request);
	signed_identity_free(signed_identity);
	return value;
}

static char *sign(struct fixture *f)
{
	return sign_with(f, f->signer);
}

static enum err_code verify(const struct fixture *f, const char *value,
                            const struct identity_request *request)
{
	struct verified_identity read;
	return identity_verify(f->verifier, f->arena, value, request, NOW_MS, &read);
}

static void a_signed_identity_is_read(void **state)
{
	struct fixture *f = *state;
	struct verified_identity read;
	assert_int_equal(identity_verify(f->verifier, f->arena, sign(f), &f->request, NOW_MS,
	                                 &read),
	                 ERR_NONE);
	assert_string_equal(read.sender, "gateway");
	assert_int_equal(read.signed_ms, NOW_MS);
	assert_true(uuid_equal(&read.identity.account, &f->identity.account));
	assert_true(uuid_equal(&read.identity.key_id, &f->identity.key_id));
	assert_int_equal(read.identity.kind, KEY_AUTOMATION);
	assert_int_equal(read.identity.scopes, SCOPE_ALL);
	assert_string_equal(read.identity.repo, f->identity.repo);
	assert_string_equal(read.identity.interest, f->identity.interest);
	assert_true(read.identity.is_repo_verified);
}

static void absent_fields_stay_absent(void **state)
{
	struct fixture *f = *state;
	struct verified_identity read;
	f->identity = (struct identity){.account = uuid_new(), .kind = KEY_SERVICE};
	f->request.id = NULL;
	assert_int_equal(identity_verify(f->verifier, f->arena, sign(f), &f->request, NOW_MS,
	                                 &read),
	                 ERR_NONE);
	assert_true(uuid_is_nil(&read.identity.key_id));
	assert_int_equal(read.identity.kind, KEY_SERVICE);
	assert_int_equal(read.identity.scopes, SCOPE_NONE);
	assert_null(read.identity.repo);
	assert_null(read.identity.interest);
	assert_false(read.identity.is_repo_verified);
}

/* What was captured cannot be sent with another request. */
static void a_value_is_valid_for_one_request_only(void **state)
{
	struct fixture *f = *state;
	const struct identity_request others[] = {
		request_of("POST", TARGET, "req-1"),
		request_of("HEAD", TARGET, "req-1"),
		request_of("GET", "/api/v1.0/search/assets/list", "req-1"),
		request_of("GET", "/api/v1.0/search/assets/list?limit=50", "req-1"),
		request_of("GET", "/internal/assets/lookup", "req-1"),
		request_of("GET", TARGET, "req-2"),
		request_of("GET", TARGET, NULL),
		request_of("GET", TARGET "\nreq-1", ""),
		request_of("GET " TARGET, "", "req-1"),
	};
	const char *value = sign(f);
	assert_int_equal(verify(f, value, &f->request), ERR_NONE);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_int_equal(verify(f, value, &others[i]), ERR_UNAUTHENTICATED);
}

static void one_signed_identity_signs_many_requests(void **state)
{
	struct fixture *f = *state;
	const struct identity_request other = request_of("DELETE", "/api/v1.0/x", "req-2");
	struct signed_identity *signed_identity =
		signed_identity_new(f->signer, &f->identity, NOW_MS);
	const char *first = identity_sign(signed_identity, f->arena, &f->request);
	const char *second = identity_sign(signed_identity, f->arena, &other);
	assert_string_equal(identity_sign(signed_identity, f->arena, &f->request), first);
	assert_int_equal(verify(f, first, &f->request), ERR_NONE);
	assert_int_equal(verify(f, second, &other), ERR_NONE);
	assert_int_equal(verify(f, first, &other), ERR_UNAUTHENTICATED);
	signed_identity_free(signed_identity);
}

/* More callers than the verifier keeps the claims of. */
static void many_callers_are_told_apart(void **state)
{
	enum { CALLERS = 600 };
	struct fixture *f = *state;
	struct uuid accounts[CALLERS];
	const char *values[CALLERS];
	for (int i = 0; i < CALLERS; i++) {
		f->identity.account = accounts[i] = uuid_new();
		f->identity.repo = i % 2 ? arena_printf(f->arena, "owner/%d", i) : NULL;
		values[i] = sign(f);
	}
	for (int call = 0; call < 3 * CALLERS; call++) {
		int i = call / 3 * 7 % CALLERS;
		struct verified_identity read;
		assert_int_equal(identity_verify(f->verifier, f->arena, values[i], &f->request,
		                                 NOW_MS, &read),
		                 ERR_NONE);
		assert_true(uuid_equal(&read.identity.account, &accounts[i]));
		assert_int_equal(read.identity.repo != NULL, i % 2);
		assert_string_equal(read.identity.interest, f->identity.interest);
	}
}

/* What was read stays when the verifier has replaced the claims, or is freed. */
static void what_was_read_is_the_callers_own(void **state)
{
	struct fixture *f = *state;
	struct verified_identity first, again;
	struct identity_verifier *copy = identity_verifier_copy(f->verifier);
	const char *value = sign(f);
	assert_int_equal(identity_verify(copy, f->arena, value, &f->request, NOW_MS, &first),
	                 ERR_NONE);
	assert_int_equal(identity_verify(copy, f->arena, value, &f->request, NOW_MS, &again),
	                 ERR_NONE);
	identity_verifier_free(copy);
	assert_string_equal(first.sender, "gateway");
	assert_string_equal(again.sender, "gateway");
	assert_string_equal(first.identity.repo, f->identity.repo);
	assert_string_equal(again.identity.repo, f->identity.repo);
	assert_string_equal(again.identity.interest, f->identity.interest);
}

/* The lifetime is the receiver's, in both directions: a sender cannot sign for later. */
static void a_value_out_of_its_lifetime_is_told_apart(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int64_t age_ms;
		enum err_code code;
	} ROWS[] = {
		{0, ERR_NONE},
		{IDENTITY_LIFETIME_MS - 1, ERR_NONE},
		{1 - IDENTITY_LIFETIME_MS, ERR_NONE},
		{IDENTITY_LIFETIME_MS, ERR_UNAVAILABLE},
		{-IDENTITY_LIFETIME_MS, ERR_UNAVAILABLE},
		{-NOW_MS, ERR_UNAVAILABLE},
	};
	const char *value = sign(f);
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct verified_identity read = {0};
		assert_int_equal(identity_verify(f->verifier, f->arena, value, &f->request,
		                                 NOW_MS + ROWS[i].age_ms, &read),
		                 ROWS[i].code);
		assert_string_equal(read.sender, "gateway");
		assert_int_equal(read.signed_ms, NOW_MS);
	}
}

/* A process that knows its own secrets can sign neither as another process nor for another one. */
static void other_pairs_are_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *sender, *receiver, *secret;
	} ROWS[] = {
		{"gateway", "svc-search", "another secret of 32 characters or more"},
		{"svc-interests", "svc-search", SECRET},
		{"gateway", "svc-interests", SECRET},
		{"", "", SECRET},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct identity_signer *other =
			identity_signer_new(ROWS[i].sender, ROWS[i].receiver, ROWS[i].secret);
		assert_int_equal(verify(f, sign_with(f, other), &f->request), ERR_UNAUTHENTICATED);
		identity_signer_free(other);
	}
}

/* A secret is replaced while both processes run: the receiver first, then the sender. */
static void each_of_several_secrets_verifies(void **state)
{
	struct fixture *f = *state;
	const struct identity_secret secrets[] = {
		{"svc-interests", "of another sender, 32 characters or more"},
		{"gateway", "the new secret, of 32 characters or more"},
		{"gateway", SECRET},
	};
	identity_verifier_free(f->verifier);
	f->verifier = identity_verifier_new("svc-search", secrets, ARRAY_LEN(secrets));
	assert_int_equal(verify(f, sign(f), &f->request), ERR_NONE);
	struct identity_signer *next =
		identity_signer_new("gateway", "svc-search", secrets[1].secret);
	assert_int_equal(verify(f, sign_with(f, next), &f->request), ERR_NONE);
	identity_signer_free(next);
	next = identity_signer_new("gateway", "svc-search", secrets[0].secret);
	assert_int_equal(verify(f, sign_with(f, next), &f->request), ERR_UNAUTHENTICATED);
	identity_signer_free(next);
}

/* Each character changed, and each prefix. */
static void assert_changes_are_refused(const struct fixture *f, const char *value)
{
	size_t length = strlen(value);
	for (size_t i = 0; i < length; i++) {
		char *damaged = arena_strdup(f->arena, value);
		damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
		assert_int_equal(verify(f, damaged, &f->request), ERR_UNAUTHENTICATED);
		damaged[i] = '\0';
		assert_int_equal(verify(f, damaged, &f->request), ERR_UNAUTHENTICATED);
	}
	const char *longer = arena_printf(f->arena, "%sA", value);
	assert_int_equal(verify(f, longer, &f->request), ERR_UNAUTHENTICATED);
}

static void changed_values_are_refused(void **state)
{
	struct fixture *f = *state;
	const char *value = sign(f);
	assert_changes_are_refused(f, value);
	assert_int_equal(verify(f, value, &f->request), ERR_NONE);
	assert_changes_are_refused(f, value);
}

/* Sign any claims, as identity_sign() does. */
static const char *sign_claims(struct fixture *f, const char *claims)
{
	uint8_t key[SHA256_LEN], mac[CMAC_LEN];
	hmac_sha256(SECRET, strlen(SECRET), claims, strlen(claims), key);
	struct cmac *cmac = cmac_new(key);
	const char *text = "GET " TARGET "\nreq-1";
	cmac_add(cmac, text, strlen(text));
	cmac_finish(cmac, mac);
	cmac_free(cmac);
	return arena_printf(f->arena, "%s.%s", base64url_encode(f->arena, claims, strlen(claims)),
	                    base64url_encode(f->arena, mac, sizeof(mac)));
}

/* Signed correctly, but not of the form that identity_sign() writes. */
static void invalid_claims_are_refused(void **state)
{
	static const char A[] = "0197a000-0000-7000-8000-000000000001";
	static const char *const FORMATS[] = {
		"3|gateway|svc-search|%s|%s|personal|3f|1767225600000||||",
		"2|gateway|svc-search|%s|%s|personal|3f|1767225600000|||",
		"5|gateway|svc-search|%s|%s|personal|3f|1767225600000||||",
		"4|gateway|svc-search|%s|%s|personal|3f|1767225600000|||",
		"4|gateway|svc-search|%s|%s|personal|3f|1767225600000||||ada",
		"4|gateway|svc-search|%s|%s|personal|3f|1767225600000|||||",
		"3|gateway|svc-search|%s|%s|personal|3f|1767225600000||",
		"3|gateway|svc-search|%s|%s|owner|3f|1767225600000|||",
		"3|gateway|svc-search|%s|%s|personal||1767225600000|||",
		"3|gateway|svc-search|%s|%s|personal|-1|1767225600000|||",
		"3|gateway|svc-search|%s|%s|personal|3F|1767225600000|||",
		"3|gateway|svc-search|%s|%s|personal|3f||||",
		"3|gateway|svc-search|%s|%s|personal|3f|+1767225600000|||",
		"3|gateway|svc-search|%s|%s|personal|3f|9999999999999999999|||",
		"3|gateway|svc-search|%s|%.35s|personal|3f|1767225600000|||",
		"3|gateway|svc-search|%s|%s|personal|3f|1767225600000|a|b||c",
		"3|gateway|svc-search|%s|%s|",
		"",
	};
	struct fixture *f = *state;
	const char *valid = "3|gateway|svc-search|%s|%s|personal|3f|1767225600000|||";
	assert_int_equal(verify(f, sign_claims(f, arena_printf(f->arena, valid, A, A)),
	                        &f->request),
	                 ERR_NONE);
	for (size_t i = 0; i < ARRAY_LEN(FORMATS); i++) {
		const char *claims = arena_printf(f->arena, FORMATS[i], A, A);
		if (verify(f, sign_claims(f, claims), &f->request) != ERR_UNAUTHENTICATED)
			fail_msg("'%s' was taken", claims);
	}
}

/* The release before reads version 3 only. */
static void version_3_is_written_without_a_person(void **state)
{
	struct fixture *f = *state;
	size_t length;
	const char *value = sign(f), *dot = strchr(value, '.');
	const char *claims = base64url_decode(f->arena, value, (size_t)(dot - value), &length);
	assert_memory_equal(claims, "3|", 2);
}

static void a_person_is_named_to_the_receiver(void **state)
{
	struct fixture *f = *state;
	struct verified_identity first, again;
	f->identity.person = uuid_new();
	const char *value = sign(f);
	assert_int_equal(identity_verify(f->verifier, f->arena, value, &f->request, NOW_MS, &first),
	                 ERR_NONE);
	assert_int_equal(identity_verify(f->verifier, f->arena, value, &f->request, NOW_MS, &again),
	                 ERR_NONE);
	assert_true(uuid_equal(&first.identity.person, &f->identity.person));
	assert_true(uuid_equal(&again.identity.person, &f->identity.person));
	assert_string_equal(first.identity.repo, f->identity.repo);
}

static void version_4_has_a_person(void **state)
{
	static const char A[] = "0197a000-0000-7000-8000-000000000001";
	static const char P[] = "0197a000-0000-7000-8000-000000000002";
	struct fixture *f = *state;
	struct verified_identity read;
	const char *form = "4|gateway|svc-search|%s|%s|personal|3f|1767225600000||||%s";
	const char *value = sign_claims(f, arena_printf(f->arena, form, A, A, P));
	assert_int_equal(identity_verify(f->verifier, f->arena, value, &f->request, NOW_MS, &read),
	                 ERR_NONE);
	char person[UUID_TEXT_LEN + 1];
	uuid_format(&read.identity.person, person);
	assert_string_equal(person, P);
	value = sign_claims(f, arena_printf(f->arena, form, A, A, ""));
	assert_int_equal(identity_verify(f->verifier, f->arena, value, &f->request, NOW_MS, &read),
	                 ERR_NONE);
	assert_true(uuid_is_nil(&read.identity.person));
}

static void empty_values_are_refused(void **state)
{
	struct fixture *f = *state;
	static const char *const VALUES[] = {"", ".", "a", "a.", ".a", "a.b.c", "!.!"};
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++)
		assert_int_equal(verify(f, VALUES[i], &f->request), ERR_UNAUTHENTICATED);
	assert_int_equal(verify(f, NULL, &f->request), ERR_UNAUTHENTICATED);
	char *huge = arena_alloc(f->arena, 100001);
	memset(huge, 'A', 100000);
	assert_int_equal(verify(f, huge, &f->request), ERR_UNAUTHENTICATED);
}

/* A separator inside a field must not make another identity. */
static void separators_in_fields_are_refused(void **state)
{
	struct fixture *f = *state;
	f->identity.repo = "owner/name|x";
	assert_int_equal(verify(f, sign(f), &f->request), ERR_UNAUTHENTICATED);
	f->identity.repo = "owner/name||verified";
	f->identity.is_repo_verified = false;
	assert_int_equal(verify(f, sign(f), &f->request), ERR_UNAUTHENTICATED);
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
		TEST(a_value_is_valid_for_one_request_only),
		TEST(one_signed_identity_signs_many_requests),
		TEST(many_callers_are_told_apart),
		TEST(what_was_read_is_the_callers_own),
		TEST(a_value_out_of_its_lifetime_is_told_apart),
		TEST(other_pairs_are_refused),
		TEST(each_of_several_secrets_verifies),
		TEST(changed_values_are_refused),
		TEST(invalid_claims_are_refused),
		TEST(version_3_is_written_without_a_person),
		TEST(a_person_is_named_to_the_receiver),
		TEST(version_4_has_a_person),
		TEST(empty_values_are_refused),
		TEST(separators_in_fields_are_refused),
		TEST(kinds_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
