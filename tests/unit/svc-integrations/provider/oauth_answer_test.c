#include "provider/oauth_answer.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <string.h>

static yyjson_val *parse(const char *text)
{
	yyjson_val *root;
	assert_int_equal(json_parse(arena, text, strlen(text), &root, NULL), ERR_NONE);
	return root;
}

static bool read_tokens(const char *text, struct oauth_tokens *tokens)
{
	return oauth_tokens_read(arena, parse(text), tokens);
}

static void tokens_are_read(void **state attr_unused)
{
	struct oauth_tokens tokens;
	assert_true(read_tokens(
		"{\"access_token\":\"a\",\"refresh_token\":\"r\",\"token_type\":\"bearer\","
		"\"expires_in\":3600,\"scope\":\"read write\"}",
		&tokens));
	assert_string_equal(tokens.access_token, "a");
	assert_string_equal(tokens.refresh_token, "r");
	assert_string_equal(tokens.token_type, "Bearer");
	assert_string_equal(tokens.scopes, "read write");
	assert_int_equal(tokens.expires_in_s, 3600);
}

static void what_is_absent_stays_absent(void **state attr_unused)
{
	struct oauth_tokens tokens;
	assert_true(read_tokens("{\"access_token\":\"a\",\"refresh_token\":null,\"scope\":[\"x\"]}",
	                        &tokens));
	assert_null(tokens.refresh_token);
	assert_string_equal(tokens.scopes, "x");
	assert_string_equal(tokens.token_type, "Bearer");
	assert_int_equal(tokens.expires_in_s, 0);
}

static void optional_members_of_another_form_are_absent(void **state attr_unused)
{
	static const char *const ODD[] = {"\"\"", "null",    "7",       "{}",           "[]",
	                                  "true", "\"\\n\"", "\"a b\"", "{\"a\":\"b\"}"};
	static const char *const NAMES[] = {"refresh_token", "token_type", "scope", "expires_in"};
	struct oauth_tokens tokens;
	for (size_t i = 0; i < ARRAY_LEN(ODD); i++) {
		for (size_t j = 0; j < ARRAY_LEN(NAMES); j++) {
			assert_true(read_tokens(arena_printf(arena,
			                                     "{\"access_token\":\"a\",\"%s\":%s}",
			                                     NAMES[j], ODD[i]),
			                        &tokens));
			assert_string_equal(tokens.access_token, "a");
			assert_null(tokens.refresh_token);
			assert_string_equal(tokens.token_type, "Bearer");
		}
	}
}

static void types_and_scopes_have_several_forms(void **state attr_unused)
{
	struct oauth_tokens tokens;
	assert_true(read_tokens("{\"access_token\":\"a\",\"token_type\":\"BEARER\","
	                        "\"scope\":[\"read\",1,\"write\"]}",
	                        &tokens));
	assert_string_equal(tokens.token_type, "Bearer");
	assert_string_equal(tokens.scopes, "read write");
}

static void the_words_of_a_refusal_are_found(void **state attr_unused)
{
	static const struct {
		const char *body, *words; /* NULL: none */
	} ROWS[] = {
		{"{\"error\":\"invalid_grant\",\"error_description\":\"used\"}",
	         "invalid_grant: used"},
		{"{\"error\":{\"type\":\"auth\",\"message\":\"gone\"}}", "auth: gone"},
		{"{\"error\":{\"code\":7}}", NULL},
		{"{\"errors\":[{\"message\":\"gone\"}]}", "gone"},
		{"{\"message\":\"Bad credentials\"}", "Bad credentials"},
		{"[]", NULL},
		{"<html><body class=\"a\">\n <h1>Session\n ended</h1>log in</body></html>",
	         "Session ended log in"},
		{"", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		yyjson_val *root = NULL;
		json_parse(arena, ROWS[i].body, strlen(ROWS[i].body), &root, NULL);
		const char *words = oauth_error_words(arena, root, ROWS[i].body);
		assert_int_equal(words == NULL, ROWS[i].words == NULL);
		if (words)
			assert_string_equal(words, ROWS[i].words);
	}
}

static void lifetimes_are_bounded(void **state attr_unused)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} ROWS[] = {
		{"\"7200\"", 7200},   {"0.5", 1},       {"-1", -1},     {"0", -1},
		{"1e300", 315360000}, {"\"soon\"", 0},  {"\"nan\"", 0}, {"null", 0},
		{"\"0\"", -1},        {"\"-5\"", -1},   {"true", 0},    {"[3600]", 0},
		{"\"\"", 0},          {"3600.9", 3600},
	};
	struct oauth_tokens tokens;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *text = arena_printf(arena, "{\"access_token\":\"a\",\"expires_in\":%s}",
		                                ROWS[i].text);
		assert_true(read_tokens(text, &tokens));
		assert_int_equal(tokens.expires_in_s, ROWS[i].seconds);
	}
}

static void tokens_that_no_field_can_carry_are_refused(void **state attr_unused)
{
	static const char *const TEXTS[] = {
		"{}",
		"{\"access_token\":\"\"}",
		"{\"access_token\":1}",
		"{\"access_token\":\"a b\"}",
		"{\"access_token\":\"a\\r\\nx: y\"}",
		"{\"access_token\":\"\u00e9\"}",
		"[]",
	};
	struct oauth_tokens tokens;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_false(read_tokens(TEXTS[i], &tokens));
}

static void errors_of_the_client_are_told_apart(void **state attr_unused)
{
	assert_true(oauth_error_is_of_client("invalid_client"));
	assert_true(oauth_error_is_of_client("incorrect_client_credentials"));
	assert_false(oauth_error_is_of_client("invalid_grant"));
	assert_false(oauth_error_is_of_client("bad_refresh_token"));
}

static void users_are_read(void **state attr_unused)
{
	static const struct {
		const char *text, *id, *login;
	} ROWS[] = {
		{"{\"id\":583231,\"login\":\"ada\",\"email\":\"a@b\"}", "583231", "ada"},
		{"{\"data\":{\"viewer\":{\"id\":\"u1\",\"name\":\"Ada\",\"email\":\"a@b\"}}}", "u1",
	         "Ada"},
		{"{\"account_id\":\"x\",\"nickname\":\"ada\",\"email\":\"a@b\"}", "x", "ada"},
		{"{\"sub\":\"s\",\"preferred_username\":\"ada\",\"email\":\"a@b\"}", "s", "ada"},
	};
	struct oauth_user user;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		assert_true(oauth_user_read(arena, parse(ROWS[i].text), &user));
		assert_string_equal(user.id, ROWS[i].id);
		assert_string_equal(user.login, ROWS[i].login);
		assert_string_equal(user.email, "a@b");
	}
	assert_false(oauth_user_read(arena, parse("{\"login\":\"ada\"}"), &user));
	assert_false(oauth_user_read(arena, parse("{\"data\":{}}"), &user));
	assert_false(oauth_user_read(arena, parse("[]"), &user));
}

static void emails_are_verified_by_a_boolean(void **state attr_unused)
{
	static const struct {
		const char *text;
		bool is_verified;
	} ROWS[] = {
		{"{\"id\":1,\"email\":\"a@b\",\"email_verified\":true}", true},
		{"{\"id\":1,\"email\":\"a@b\",\"email_verified\":\"true\"}", false},
		{"{\"id\":1,\"email\":\"a@b\",\"email_verified\":false}", false},
		{"{\"id\":1,\"email\":\"a@b\"}", false},
	};
	struct oauth_user user;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		assert_true(oauth_user_read(arena, parse(ROWS[i].text), &user));
		assert_int_equal(user.is_email_verified, ROWS[i].is_verified);
	}
}

static void the_code_host_lists_verified_emails(void **state attr_unused)
{
	static const struct {
		const char *email, *list, *verified; /* NULL: none is */
	} ROWS[] = {
		{"a@b", "[{\"email\":\"A@B\",\"verified\":true,\"primary\":false}]", "a@b"},
		{"a@b", "[{\"email\":\"a@b\",\"verified\":false,\"primary\":true}]", NULL},
		{"a@b", "[{\"email\":\"c@d\",\"verified\":true,\"primary\":true}]", "c@d"},
		{NULL, "[{\"email\":\"c@d\",\"verified\":true,\"primary\":true}]", "c@d"},
		{NULL, "[{\"email\":\"c@d\",\"verified\":true,\"primary\":false}]", NULL},
		{"a@b", "[1,{\"email\":1,\"verified\":true},{\"verified\":true}]", NULL},
		{"a@b", "{\"message\":\"no\"}", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct oauth_user user = {.id = "1", .email = ROWS[i].email};
		oauth_emails_read(parse(ROWS[i].list), &user);
		assert_int_equal(user.is_email_verified, ROWS[i].verified != NULL);
		if (ROWS[i].verified)
			assert_string_equal(user.email, ROWS[i].verified);
	}
}

static void long_texts_of_users_are_ignored(void **state attr_unused)
{
	struct oauth_user user;
	char *name = arena_alloc(arena, 322);
	memset(name, 'x', 321);
	const char *text = arena_printf(arena, "{\"id\":\"1\",\"login\":\"%s\"}", name);
	assert_true(oauth_user_read(arena, parse(text), &user));
	assert_null(user.login);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_read),
		cmocka_unit_test(what_is_absent_stays_absent),
		cmocka_unit_test(optional_members_of_another_form_are_absent),
		cmocka_unit_test(types_and_scopes_have_several_forms),
		cmocka_unit_test(the_words_of_a_refusal_are_found),
		cmocka_unit_test(lifetimes_are_bounded),
		cmocka_unit_test(tokens_that_no_field_can_carry_are_refused),
		cmocka_unit_test(errors_of_the_client_are_told_apart),
		cmocka_unit_test(users_are_read),
		cmocka_unit_test(emails_are_verified_by_a_boolean),
		cmocka_unit_test(the_code_host_lists_verified_emails),
		cmocka_unit_test(long_texts_of_users_are_ignored),
	};
	return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
