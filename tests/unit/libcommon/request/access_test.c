/* Access by sender and operation. tests/api/system/isolation checks it over HTTP. */
#include "request/access.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "capture.h"
#include "crypto/scope.h"
#include "observe/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECRET "a secret of the tests, 32 characters or more"

static struct verified_sender sender_of(enum api_service process, enum key_kind kind,
                                        uint64_t scopes)
{
	return (struct verified_sender){process, {.kind = kind, .scopes = scopes}};
}

static void internal_operations_are_for_listed_services(void **state attr_unused)
{
	const struct internal_op *op = internal_op(INTERNAL_ID_assets_lookup);
	static const struct {
		enum api_service process;
		enum key_kind kind;
		enum err_code code;
	} ROWS[] = {
		{API_INTERESTS, KEY_SERVICE, ERR_NONE},
		{API_INTERESTS, KEY_PERSONAL, ERR_NOT_FOUND},
		{API_EXPERIMENTS, KEY_SERVICE, ERR_NONE},
		{API_FLEET, KEY_SERVICE, ERR_NOT_FOUND},
		{API_GATEWAY, KEY_PERSONAL, ERR_NOT_FOUND},
		{API_GATEWAY, KEY_SERVICE, ERR_NOT_FOUND},
		{API_SEARCH, KEY_SERVICE, ERR_NOT_FOUND},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct verified_sender sender = sender_of(ROWS[i].process, ROWS[i].kind, SCOPE_ALL);
		assert_int_equal(access_check_internal(&sender, op).code, ROWS[i].code);
	}
}

static void public_operations_are_for_the_gateway_and_listed_services(void **state attr_unused)
{
	const struct api_op *op = api_op(API_ID_asset_get);
	static const struct {
		enum api_service process;
		enum key_kind kind;
		uint64_t scopes;
		enum err_code code;
	} ROWS[] = {
		{API_GATEWAY, KEY_PERSONAL, SCOPE_ALL, ERR_NONE},
		{API_GATEWAY, KEY_AUTOMATION, SCOPE_ALL, ERR_NONE},
		{API_GATEWAY, KEY_PERSONAL, SCOPE_NONE, ERR_SCOPE},
		{API_GATEWAY, KEY_SERVICE, SCOPE_ALL, ERR_FORBIDDEN},
		{API_EXPERIMENTS, KEY_SERVICE, SCOPE_ALL, ERR_NONE},
		{API_EXPERIMENTS, KEY_PERSONAL, SCOPE_ALL, ERR_FORBIDDEN},
		{API_INTERESTS, KEY_SERVICE, SCOPE_ALL, ERR_FORBIDDEN},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct verified_sender sender =
			sender_of(ROWS[i].process, ROWS[i].kind, ROWS[i].scopes);
		struct access access = access_check_public(&sender, op);
		assert_int_equal(access.code, ROWS[i].code);
		assert_int_equal(access.scope != NULL, access.code == ERR_SCOPE);
	}
}

/* Verify a request that was signed `age_ms` ago with `secret`, or not at all. */
static struct access authenticate(const char *secret, int64_t age_ms)
{
	const struct identity_secret known = {"gateway", SECRET};
	struct arena *arena = arena_new();
	struct http_field fields[2] = {http_field_of("X-Request-Id", "r")};
	struct http_exchange x = {
		.arena = arena,
		.head = {.method = "GET",
	                 .method_length = 3,
	                 .target = "/a",
	                 .target_length = 2,
	                 .fields = fields,
	                 .field_count = 1},
	};
	const struct identity_request request = {
		.method = "GET", .method_length = 3, .target = "/a", .target_length = 2, .id = "r"};
	if (secret) {
		const struct identity caller = {.scopes = SCOPE_ALL};
		struct identity_signer *signer =
			identity_signer_new("gateway", "svc-search", secret);
		struct signed_identity *made =
			signed_identity_new(signer, &caller, time_now_ms() - age_ms);
		fields[x.head.field_count++] =
			http_field_of(IDENTITY_HEADER, identity_sign(made, arena, &request));
		signed_identity_free(made);
		identity_signer_free(signer);
	}
	struct verified_sender sender = {.process = API_SERVICE_COUNT};
	struct identity_verifier *verifier = identity_verifier_new("svc-search", &known, 1);
	struct access access = access_authenticate(verifier, &x, &sender);
	assert_true(access.code || sender.process == API_GATEWAY);
	identity_verifier_free(verifier);
	arena_free(arena);
	return access;
}

/* What a process signs wrongly is a fault of the cluster: no client can repair it with another
 * key. */
static void faults_of_processes_are_not_those_of_keys(void **state attr_unused)
{
	char text[4000];
	assert_int_equal(authenticate(SECRET, 0).code, ERR_NONE);
	assert_int_equal(authenticate(NULL, 0).code, ERR_UNAUTHENTICATED);
	struct capture capture = capture_start(STDOUT_FILENO);
	struct access other = authenticate("another secret of 32 characters or more", 0);
	struct access late = authenticate(SECRET, IDENTITY_LIFETIME_MS + 1000);
	struct access early = authenticate(SECRET, -IDENTITY_LIFETIME_MS - 1000);
	log_flush();
	capture_stop(&capture, text, sizeof(text));
	assert_int_equal(other.code, ERR_MISDIRECTED);
	assert_int_equal(late.code, ERR_UNAVAILABLE);
	assert_int_equal(early.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(early.detail, "clocks"));

	/* The second line about clocks is left out. */
	const char *line = strstr(text, "the clocks of two processes differ too much");
	assert_non_null(line);
	assert_null(strstr(line + 1, "the clocks of two processes differ too much"));
	assert_non_null(strstr(line, "\"sender\":\"gateway\",\"signed_at\":\"2"));
	assert_non_null(strstr(line, "\"own_time\":\"2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(internal_operations_are_for_listed_services),
		cmocka_unit_test(public_operations_are_for_the_gateway_and_listed_services),
		cmocka_unit_test(faults_of_processes_are_not_those_of_keys),
	};
	api_init();
	(void)log_init("test", "info");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
