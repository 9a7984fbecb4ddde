#include "oidc/id_token.h"

#include "arena_fixture.h"
#include "crypto/crypto.h"
#include "json/json.h"

#include <string.h>

#define NOW 1800000000

static const struct id_token_rules RULES = {
	.issuer = "https://op.example.org",
	.client_id = "us",
	.nonce = "n1",
	.now_s = NOW,
};

static const char *encode(const char *text)
{
	return base64url_encode(arena, text, strlen(text));
}

static const char *token_of(const char *header, const char *claims)
{
	return arena_printf(arena, "%s.%s.c2ln", encode(header), encode(claims));
}

#define HEADER "{\"alg\": \"RS256\", \"kid\": \"k1\"}"

/* What id_token_read() says of a text. */
static const char *read_fault(const char *text)
{
	struct id_token token;
	return id_token_read(arena, text, &token);
}

static const char *header_fault(const char *header)
{
	return read_fault(token_of(header, "{}"));
}

static void a_token_is_read(void **state attr_unused)
{
	struct id_token token;
	const char *text = token_of("{\"alg\": \"ES256\", \"kid\": \"k1\"}", "{\"sub\": \"a\"}");
	assert_null(id_token_read(arena, text, &token));
	assert_int_equal(token.algorithm, SIGNATURE_ES256);
	assert_string_equal(token.kid, "k1");
	assert_ptr_equal(token.signed_text, text);
	assert_int_equal(token.signed_length, strrchr(text, '.') - text);
	assert_memory_equal(token.signature, "sig", token.signature_length);
	assert_string_equal(json_get_text(token.claims, "sub"), "a");
}

static void other_algorithms_are_refused(void **state attr_unused)
{
	static const char *const ALGORITHMS[] = {"none", "NONE", "HS256", "PS256", "RS1", ""};
	for (size_t i = 0; i < ARRAY_LEN(ALGORITHMS); i++)
		assert_string_equal(header_fault(arena_printf(arena,
		                                              "{\"alg\": \"%s\", \"kid\": "
		                                              "\"k1\"}",
		                                              ALGORITHMS[i])),
		                    "is not signed with RS256 or ES256");
	assert_string_equal(header_fault("{\"alg\": [\"RS256\"], \"kid\": \"k1\"}"),
	                    "is not signed with RS256 or ES256");
	/* Of two members of a name another reader may take the other one. */
	assert_string_equal(header_fault(
				    "{\"alg\": \"RS256\", \"alg\": \"none\", \"kid\": \"k1\"}"),
	                    "is not the base64url of JSON");
}

static void a_header_that_asks_for_more_is_refused(void **state attr_unused)
{
	assert_string_equal(header_fault("{\"alg\": \"RS256\"}"), "does not name its key");
	assert_string_equal(header_fault("{\"alg\": \"RS256\", \"kid\": 1}"),
	                    "does not name its key");
	assert_string_equal(header_fault("{\"alg\": \"RS256\", \"kid\": \"k1\", \"crit\": "
	                                 "[\"b64\"], \"b64\": false}"),
	                    "has an extension that is not known");
}

static void what_is_no_token_is_refused(void **state attr_unused)
{
	const char *header = encode(HEADER);
	const char *texts[] = {
		"",
		".",
		"..",
		"...",
		header,
		arena_printf(arena, "%s.e30", header),
		arena_printf(arena, "%s.e30.", header),
		arena_printf(arena, "%s.e30.c2ln.e30", header),
		arena_printf(arena, "%s.e30=.c2ln", header),
		arena_printf(arena, "%s.%s.c2ln", header, encode("[]")),
		arena_printf(arena, "%s.%s.c2ln", header, encode("{} {}")),
		arena_printf(arena, "%s.e30.c2l#", header),
		arena_printf(arena, "%s.e30.c2ln\n", header),
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_non_null(read_fault(texts[i]));
}

static void a_huge_token_is_refused(void **state attr_unused)
{
	char *claims = arena_alloc(arena, ID_TOKEN_MAX + 1);
	memset(claims, ' ', ID_TOKEN_MAX);
	memcpy(claims, "{}", 2);
	assert_string_equal(read_fault(token_of(HEADER, claims)), "has not three parts");
}

/* --- Claims ----------------------------------------------------------------------------------- */

#define ISS   "\"iss\": \"https://op.example.org\""
#define AUD   "\"aud\": \"us\""
#define NONCE "\"nonce\": \"n1\""
#define SUB   "\"sub\": \"a\""
#define TIMES "\"exp\": 1800000300, \"iat\": 1800000000"

static const char *claims_fault(const char *claims)
{
	struct id_token token;
	assert_null(id_token_read(arena, token_of(HEADER, claims), &token));
	return id_token_check(&token, &RULES);
}

static void good_claims_are_taken(void **state attr_unused)
{
	assert_null(claims_fault("{" ISS "," AUD "," NONCE "," SUB "," TIMES "}"));
	assert_null(claims_fault("{" ISS ", \"aud\": [\"us\"]," NONCE "," SUB "," TIMES "}"));
	assert_null(claims_fault("{" ISS ", \"aud\": [\"other\", \"us\"], \"azp\": \"us\"," NONCE
	                         "," SUB "," TIMES "}"));
	assert_null(claims_fault("{" ISS "," AUD "," NONCE "," SUB
	                         ", \"exp\": 1800000300.5, \"iat\": 18e8, \"nbf\": 1800000000}"));
}

static void another_issuer_is_refused(void **state attr_unused)
{
	static const char *const ISSUERS[] = {"\"https://op.example.org/\"",
	                                      "\"https://OP.example.org\"",
	                                      "\"\"",
	                                      "1",
	                                      "[\"https://op.example.org\"]",
	                                      "null"};
	for (size_t i = 0; i < ARRAY_LEN(ISSUERS); i++)
		assert_string_equal(claims_fault(arena_printf(arena,
		                                              "{\"iss\": %s," AUD "," NONCE "," SUB
		                                              "," TIMES "}",
		                                              ISSUERS[i])),
		                    "is of another issuer");
	assert_string_equal(claims_fault("{" AUD "," NONCE "," SUB "," TIMES "}"),
	                    "is of another issuer");
}

static void another_audience_is_refused(void **state attr_unused)
{
	static const char *const AUDIENCES[] = {
		"\"aud\": \"other\"",
		"\"aud\": []",
		"\"aud\": [\"other\"]",
		"\"aud\": [\"us\", \"other\"]",
		"\"aud\": [\"us\", \"other\"], \"azp\": \"other\"",
		"\"aud\": \"us\", \"azp\": \"other\"",
		"\"aud\": \"us\", \"azp\": null",
		"\"aud\": {\"us\": \"us\"}",
		"\"azp\": \"us\"",
	};
	for (size_t i = 0; i < ARRAY_LEN(AUDIENCES); i++)
		assert_string_equal(
			claims_fault(arena_printf(arena, "{" ISS ",%s," NONCE "," SUB "," TIMES "}",
		                                  AUDIENCES[i])),
			"is for another client");
}

static void another_nonce_is_refused(void **state attr_unused)
{
	assert_string_equal(claims_fault("{" ISS "," AUD "," SUB "," TIMES "}"),
	                    "is of another log-in");
	assert_string_equal(claims_fault("{" ISS "," AUD ", \"nonce\": \"n2\"," SUB "," TIMES "}"),
	                    "is of another log-in");
}

static void no_subject_is_refused(void **state attr_unused)
{
	static const char *const SUBJECTS[] = {"\"\"", "1", "null", "\"a\\u0001\""};
	for (size_t i = 0; i < ARRAY_LEN(SUBJECTS); i++)
		assert_string_equal(claims_fault(arena_printf(arena,
		                                              "{" ISS "," AUD "," NONCE
		                                              ", \"sub\": %s," TIMES "}",
		                                              SUBJECTS[i])),
		                    "has no subject");
}

static const char *times_fault(const char *times)
{
	return claims_fault(arena_printf(arena, "{" ISS "," AUD "," NONCE "," SUB ", %s}", times));
}

static void times_may_differ_by_a_minute(void **state attr_unused)
{
	assert_null(times_fault("\"exp\": 1799999941, \"iat\": 1799999340"));
	assert_string_equal(times_fault("\"exp\": 1799999940, \"iat\": 1800000000"), "has expired");
	assert_null(times_fault("\"exp\": 1800000300, \"iat\": 1800000060"));
	assert_string_equal(times_fault("\"exp\": 1800000300, \"iat\": 1800000061"),
	                    "is of the future: the clocks differ");
	assert_string_equal(times_fault("\"exp\": 1800000300, \"iat\": 1799999339"), "is too old");
	assert_string_equal(times_fault(TIMES ", \"nbf\": 1800000061"),
	                    "is of the future: the clocks differ");
	assert_string_equal(times_fault(TIMES ", \"nbf\": \"now\""),
	                    "is of the future: the clocks differ");
}

static void times_are_numbers(void **state attr_unused)
{
	assert_string_equal(times_fault("\"exp\": 1800000300"), "has no times");
	assert_string_equal(times_fault("\"iat\": 1800000000"), "has no times");
	assert_string_equal(times_fault("\"exp\": \"1800000300\", \"iat\": 1800000000"),
	                    "has no times");
}

/* --- The person ------------------------------------------------------------------------------- */

static struct id_claims person_of(const char *json)
{
	return id_claims_read(json_parse_own(arena, json));
}

static void only_true_is_verified(void **state attr_unused)
{
	static const char *const VALUES[] = {"\"true\"", "1", "false", "null", "[true]", "\"yes\""};
	assert_true(person_of("{\"email_verified\": true}").is_email_verified);
	assert_false(person_of("{}").is_email_verified);
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++)
		assert_false(person_of(arena_printf(arena, "{\"email_verified\": %s}", VALUES[i]))
		                     .is_email_verified);
}

static void unusable_texts_are_absent(void **state attr_unused)
{
	struct id_claims claims = person_of("{\"sub\": \"s\", \"email\": \"a@b.c\", \"name\": "
	                                    "\"Ada\"}");
	assert_string_equal(claims.subject, "s");
	assert_string_equal(claims.email, "a@b.c");
	assert_string_equal(claims.name, "Ada");
	claims = person_of("{\"email\": \"a b@c\", \"name\": \"\"}");
	assert_null(claims.subject);
	assert_null(claims.email);
	assert_null(claims.name);
	assert_null(person_of("{\"email\": \"a@b\\r\\nc\"}").email);
	assert_null(id_claims_read(NULL).subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(a_token_is_read),
		ARENA_TEST(other_algorithms_are_refused),
		ARENA_TEST(a_header_that_asks_for_more_is_refused),
		ARENA_TEST(what_is_no_token_is_refused),
		ARENA_TEST(a_huge_token_is_refused),
		ARENA_TEST(good_claims_are_taken),
		ARENA_TEST(another_issuer_is_refused),
		ARENA_TEST(another_audience_is_refused),
		ARENA_TEST(another_nonce_is_refused),
		ARENA_TEST(no_subject_is_refused),
		ARENA_TEST(times_may_differ_by_a_minute),
		ARENA_TEST(times_are_numbers),
		ARENA_TEST(only_true_is_verified),
		ARENA_TEST(unusable_texts_are_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
