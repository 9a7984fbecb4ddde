#include "client/oauth_code.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <string.h>

/* The verifier and its challenge are those of RFC 7636 appendix B. */
static void the_url_has_the_challenge_of_the_verifier(void **state attr_unused)
{
	struct oauth_code_request request = {
		.endpoint = "https://sso.example.org/auth",
		.client_id = "c d",
		.redirect_uri = "https://a.example/back",
		.scopes = "openid",
		.state = "s",
		.verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
	};
	const char *query = "response_type=code&client_id=c%20d&redirect_uri=https%3A%2F%2Fa."
			    "example%2Fback&scope=openid&state=s&code_challenge=E9Melhoa2OwvFrEMTJ"
			    "guCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
	assert_string_equal(oauth_code_url(arena, &request).data,
	                    arena_printf(arena, "https://sso.example.org/auth?%s", query));
	request.endpoint = "https://sso.example.org/auth?tenant=1";
	assert_string_equal(oauth_code_url(arena, &request).data,
	                    arena_printf(arena, "https://sso.example.org/auth?tenant=1&%s", query));
}

static void a_token_is_visible_ascii(void **state attr_unused)
{
	char longest[16385 + 1];
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(oauth_token_is_valid(longest));
	longest[sizeof(longest) - 2] = '\0';
	assert_true(oauth_token_is_valid(longest));
	assert_true(oauth_token_is_valid("!~"));
	static const char *const REFUSED[] = {NULL, "", "a b", "a\n", "\x7f", "\xc3\xa9"};
	for (size_t i = 0; i < ARRAY_LEN(REFUSED); i++)
		assert_false(oauth_token_is_valid(REFUSED[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_url_has_the_challenge_of_the_verifier),
		cmocka_unit_test(a_token_is_visible_ascii),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
