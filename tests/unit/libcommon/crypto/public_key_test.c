#include "crypto/public_key.h"

#include "arena_fixture.h"
#include "crypto/crypto.h"

#include <string.h>

/* The examples of RFC 7515, appendices A.2 and A.3. */
#define CONTENT                                                                                    \
	"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0" \
	"cnVlfQ"
#define RS256_TEXT "eyJhbGciOiJSUzI1NiJ9." CONTENT
#define RS256_N                                                                                    \
	"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt" \
	"0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSX" \
	"ndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5" \
	"IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
#define RS256_SIGNATURE                                                                            \
	"cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W" \
	"2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkS" \
	"jtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnv" \
	"Wh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
#define ES256_TEXT "eyJhbGciOiJFUzI1NiJ9." CONTENT
#define ES256_X    "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define ES256_Y    "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define ES256_SIGNATURE \
	"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

/* A right signature by a key of 1024 bits, of RS256_TEXT. */
#define SHORT_N                                                                                    \
	"ucWgANLnIchfQlJjVk2yzxXKtzDFWB3R4EGncRBGlV6QgVhQC5MQbIr6nnx7So59zJzpip1WcKWCmHd_5dOPRAEO" \
	"o2-zjU6lAzdcSBmPqGFq6i-kn-8MaoNDz9dvbiG9xVs25clS4Rd7mAeCwoNPeC6RJHdfLWdxxfZ101vgwzU"
#define SHORT_SIGNATURE                                                                            \
	"mhDHO_j41BdpVLRhlbIr9himvjPAo_HVfCxlOQoTdouKaMkJ3E1HD3HVu2kiSGjwequ6D8IgeDPgD8ASQ84CCbvz" \
	"IT6cVkMO4Ai0O9zauNWoLwg37aVbkcxdztYbVR6IripfbJApgqpwAE43of49pe4WcInqoqojZaBReA26czs"

static struct key_number number(const char *text)
{
	struct key_number decoded;
	decoded.bytes = base64url_decode(arena, text, strlen(text), &decoded.length);
	assert_non_null(decoded.bytes);
	return decoded;
}

static struct public_key rsa_key(const char *n, const char *e)
{
	return (struct public_key){SIGNATURE_RS256, .n = number(n), .e = number(e)};
}

static struct public_key p256_key(const char *x, const char *y)
{
	return (struct public_key){SIGNATURE_ES256, .x = number(x), .y = number(y)};
}

static bool verify(const struct public_key *key, const char *text, const char *signature)
{
	struct key_number bytes = number(signature);
	return public_key_verify(key, text, strlen(text), bytes.bytes, bytes.length);
}

static void the_examples_of_the_rfc_are_valid(void **state attr_unused)
{
	struct public_key rsa = rsa_key(RS256_N, "AQAB"), p256 = p256_key(ES256_X, ES256_Y);
	assert_true(public_key_is_valid(&rsa));
	assert_true(public_key_is_valid(&p256));
	assert_true(verify(&rsa, RS256_TEXT, RS256_SIGNATURE));
	assert_true(verify(&p256, ES256_TEXT, ES256_SIGNATURE));
}

static void another_text_key_or_signature_is_refused(void **state attr_unused)
{
	struct public_key rsa = rsa_key(RS256_N, "AQAB"), p256 = p256_key(ES256_X, ES256_Y);
	struct public_key other = rsa_key(RS256_N, "Aw");
	assert_false(verify(&rsa, RS256_TEXT "a", RS256_SIGNATURE));
	assert_false(verify(&p256, ES256_TEXT "a", ES256_SIGNATURE));
	assert_false(verify(&other, RS256_TEXT, RS256_SIGNATURE));
	assert_false(verify(&rsa, ES256_TEXT, ES256_SIGNATURE));
	assert_false(verify(&p256, RS256_TEXT, RS256_SIGNATURE));
	assert_false(verify(&rsa, RS256_TEXT, "AAAA"));
	assert_false(verify(&p256, ES256_TEXT, "AAAA"));
}

/* CVE-2022-21449: with r = s = 0 a verifier that divides without a check takes any text. */
static void a_signature_of_zeros_is_refused(void **state attr_unused)
{
	static const uint8_t ZEROS[64];
	struct public_key p256 = p256_key(ES256_X, ES256_Y);
	assert_false(public_key_verify(&p256, "a", 1, ZEROS, sizeof(ZEROS)));
	assert_false(public_key_verify(&p256, "a", 1, ZEROS, 0));
}

static void a_short_modulus_is_refused(void **state attr_unused)
{
	struct public_key key = rsa_key(SHORT_N, "AQAB");
	assert_false(public_key_is_valid(&key));
	assert_false(verify(&key, RS256_TEXT, SHORT_SIGNATURE));
}

static void numbers_that_are_no_key_are_refused(void **state attr_unused)
{
	const struct public_key keys[] = {
		{SIGNATURE_RS256},
		{SIGNATURE_ES256},
		rsa_key(RS256_N, "AA"),
		rsa_key(RS256_N, "AQ"),
		rsa_key(RS256_N, "AQABAQAB"),
		rsa_key("AA", "AQAB"),
		p256_key(ES256_X, ES256_X),
		p256_key(ES256_X, "AA"),
	};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		assert_false(public_key_is_valid(&keys[i]));
		assert_false(verify(&keys[i], RS256_TEXT, RS256_SIGNATURE));
	}
}

static void algorithms_of_secrets_and_none_are_unknown(void **state attr_unused)
{
	static const char *const UNKNOWN[] = {"none",  "None",  "HS256", "RS384", "PS256",
	                                      "ES384", "rs256", "",      NULL};
	enum signature_algorithm algorithm;
	assert_true(signature_algorithm_find("RS256", &algorithm));
	assert_int_equal(algorithm, SIGNATURE_RS256);
	assert_true(signature_algorithm_find("ES256", &algorithm));
	assert_int_equal(algorithm, SIGNATURE_ES256);
	for (size_t i = 0; i < ARRAY_LEN(UNKNOWN); i++)
		assert_false(signature_algorithm_find(UNKNOWN[i], &algorithm));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(the_examples_of_the_rfc_are_valid),
		ARENA_TEST(another_text_key_or_signature_is_refused),
		ARENA_TEST(a_signature_of_zeros_is_refused),
		ARENA_TEST(a_short_modulus_is_refused),
		ARENA_TEST(numbers_that_are_no_key_are_refused),
		ARENA_TEST(algorithms_of_secrets_and_none_are_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
