#include "client/peers.h"

#include "base/base.h"
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECRET_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SECRET_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define SECRET_C "cccccccccccccccccccccccccccccccc"

static const char *const NO_URLS[API_SERVICE_COUNT];
static const char *const SEARCH_URL[API_SERVICE_COUNT] = {[API_SEARCH] = "http://search:8080"};
static char text[2000]; /* on standard error */

static enum err_code init(struct peers *peers, enum api_service self, const char *const *url,
                          const char *sign, const char *verify)
{
	const struct peer_settings settings = {self, url, sign, verify};
	struct capture capture = capture_start(STDERR_FILENO);
	enum err_code code = peers_init(peers, &settings);
	capture_stop(&capture, text, sizeof(text));
	return code;
}

/* Whether what `from` signs for `to` is accepted there. */
static bool is_accepted(const struct peers *from, enum api_service receiver, const struct peers *to)
{
	const struct identity_request request = {
		.method = "GET", .target = "/", .method_length = 3, .target_length = 1, .id = "r"};
	const struct identity caller = {.kind = KEY_SERVICE};
	struct arena *arena = arena_new();
	struct verified_identity read;
	struct signed_identity *made = signed_identity_new(from->signers[receiver], &caller, 1000);
	enum err_code code =
		identity_verify(to->verifier, arena, identity_sign(made, arena, &request), &request,
	                        1000, &read);
	signed_identity_free(made);
	arena_free(arena);
	return code == ERR_NONE;
}

static void each_pair_has_its_secret(void **state attr_unused)
{
	struct peers gateway, interests, search;
	assert_int_equal(init(&gateway, API_GATEWAY, SEARCH_URL,
	                      "svc-search=" SECRET_A "\n svc-interests=" SECRET_B "\n", ""),
	                 ERR_NONE);
	assert_int_equal(init(&interests, API_INTERESTS, SEARCH_URL, "svc-search=" SECRET_C,
	                      "gateway=" SECRET_B),
	                 ERR_NONE);
	assert_int_equal(init(&search, API_SEARCH, SEARCH_URL, "",
	                      "gateway=" SECRET_A " svc-interests=" SECRET_C),
	                 ERR_NONE);
	assert_string_equal(text, "");
	assert_true(is_accepted(&gateway, API_SEARCH, &search));
	assert_true(is_accepted(&gateway, API_INTERESTS, &interests));
	assert_true(is_accepted(&interests, API_SEARCH, &search));
	assert_false(is_accepted(&gateway, API_SEARCH, &interests));
	assert_null(gateway.signers[API_EXPERIMENTS]);
	assert_null(search.signers[API_SEARCH]);
	peers_free(&gateway);
	peers_free(&interests);
	peers_free(&search);
}

/* Sender and receiver agree at each of the three steps of a rotation. */
static void a_secret_is_rotated_in_three_steps(void **state attr_unused)
{
	static const struct {
		const char *sign, *verify;
	} STEPS[] = {
		{"svc-search=" SECRET_A, "gateway=" SECRET_A},
		{"svc-search=" SECRET_A, "gateway=" SECRET_A "," SECRET_B},
		{"svc-search=" SECRET_B, "gateway=" SECRET_A "," SECRET_B},
		{"svc-search=" SECRET_B "," SECRET_A, "gateway=" SECRET_B},
	};
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++) {
		struct peers gateway, search;
		assert_int_equal(init(&gateway, API_GATEWAY, NO_URLS, STEPS[i].sign, ""), ERR_NONE);
		assert_int_equal(init(&search, API_SEARCH, NO_URLS, "", STEPS[i].verify), ERR_NONE);
		assert_true(is_accepted(&gateway, API_SEARCH, &search));
		peers_free(&gateway);
		peers_free(&search);
	}
}

static void faults_are_reported_without_secrets(void **state attr_unused)
{
	static const struct {
		enum api_service self;
		const char *sign, *verify, *line;
	} ROWS[] = {
		{API_GATEWAY, SECRET_A, "",
	         "IDENTITY_SIGN_SECRETS: must be a list such as svc-search=SECRET,SECRET with "
	         "names of processes\n"},
		{API_GATEWAY, "svc-other=" SECRET_A, "", "IDENTITY_SIGN_SECRETS: must be a list"},
		{API_GATEWAY, "svc-search=short", "",
	         "IDENTITY_SIGN_SECRETS: has a secret of fewer than 32 characters for "
	         "svc-search\n"},
		{API_GATEWAY, "svc-search=" SECRET_A ",", "", "has a secret of fewer"},
		{API_GATEWAY, "svc-search=" SECRET_A " svc-search=" SECRET_B, "",
	         "IDENTITY_SIGN_SECRETS: contains twice svc-search\n"},
		{API_GATEWAY, "", "", "IDENTITY_SIGN_SECRETS: has no secret for svc-search\n"},
		{API_INTERESTS, "", "gateway=" SECRET_A,
	         "IDENTITY_SIGN_SECRETS: has no secret for svc-search\n"},
		{API_SEARCH, "", "svc-interests=" SECRET_A,
	         "IDENTITY_VERIFY_SECRETS: has no secret for gateway\n"},
		{API_SEARCH, "", "gateway:" SECRET_A, "IDENTITY_VERIFY_SECRETS: must be a list"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct peers peers;
		assert_int_equal(init(&peers, ROWS[i].self, SEARCH_URL, ROWS[i].sign,
		                      ROWS[i].verify),
		                 ERR_INVALID);
		if (!strstr(text, ROWS[i].line))
			fail_msg("expected '%s', got '%s'", ROWS[i].line, text);
		assert_null(strstr(text, "aaaa"));
		assert_null(strstr(text, "short"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_has_its_secret),
		cmocka_unit_test(a_secret_is_rotated_in_three_steps),
		cmocka_unit_test(faults_are_reported_without_secrets),
	};
	api_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
