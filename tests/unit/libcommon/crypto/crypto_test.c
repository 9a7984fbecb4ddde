#include "crypto/crypto.h"

#include "arena_fixture.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of hex text; `ret_length` may be NULL. */
static uint8_t *unhex(const char *text, size_t *ret_length)
{
	size_t length = strlen(text) / 2;
	uint8_t *data = arena_alloc(arena, length);
	assert_true(hex_decode(text, strlen(text), data, length));
	if (ret_length)
		*ret_length = length;
	return data;
}

static void assert_hex(const void *data, size_t length, const char *expected)
{
	char *text = arena_alloc(arena, 2 * length + 1);
	hex_encode(data, length, text);
	assert_string_equal(text, expected);
}

static void sha256_vectors(void **state attr_unused)
{
	/* FIPS 180-2, appendix B, and the empty text. */
	static const struct {
		const char *text, *digest;
	} ROWS[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		uint8_t digest[SHA256_LEN];
		sha256(ROWS[i].text, strlen(ROWS[i].text), digest);
		assert_hex(digest, sizeof(digest), ROWS[i].digest);
	}
	char *million = arena_alloc(arena, 1000000);
	memset(million, 'a', 1000000);
	uint8_t digest[SHA256_LEN];
	sha256(million, 1000000, digest);
	assert_hex(digest, sizeof(digest),
	           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void sha256_in_pieces(void **state attr_unused)
{
	char text[300];
	uint8_t whole[SHA256_LEN], pieces[SHA256_LEN];
	memset(text, 'a', sizeof(text));
	static const size_t SIZES[] = {1, 63, 64, 65, 299, 300};
	for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
		struct sha256 *hash = sha256_new();
		for (size_t at = 0; at < sizeof(text); at += SIZES[i])
			sha256_add(hash, text + at, MIN_OF(SIZES[i], sizeof(text) - at));
		sha256_finish(hash, pieces);
		sha256(text, sizeof(text), whole);
		assert_memory_equal(pieces, whole, SHA256_LEN);
	}
	sha256_finish(sha256_new(), pieces);
	sha256("", 0, whole);
	assert_memory_equal(pieces, whole, SHA256_LEN);
}

static void hmac_vectors(void **state attr_unused)
{
	/* RFC 4231, test cases 1, 2, 3 and 6. */
	static const struct {
		const char *key, *data, *mac;
	} ROWS[] = {
		{"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{"4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	         "dddddddddddddddddddddddddddddddddddddddddddddddddd"
	         "dddddddddddddddddddddddddddddddddddddddddddddddddd",
	         "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		size_t key_length, length;
		uint8_t *key = unhex(ROWS[i].key, &key_length);
		uint8_t *data = unhex(ROWS[i].data, &length);
		uint8_t mac[SHA256_LEN];
		hmac_sha256(key, key_length, data, length, mac);
		assert_hex(mac, sizeof(mac), ROWS[i].mac);
	}
	uint8_t key[131], mac[SHA256_LEN];
	memset(key, 0xaa, sizeof(key));
	const char *text = "Test Using Larger Than Block-Size Key - Hash Key First";
	hmac_sha256(key, sizeof(key), text, strlen(text), mac);
	assert_hex(mac, sizeof(mac),
	           "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	hmac_sha256("", 0, "", 0, mac);
	assert_hex(mac, sizeof(mac),
	           "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void cmac_vectors(void **state attr_unused)
{
	/* RFC 4493, section 4, with one key for all messages. */
	static const char MESSAGE[] =
		"6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
	static const struct {
		size_t length;
		const char *mac;
	} ROWS[] = {
		{0, "bb1d6929e95937287fa37d129b756746"},
		{16, "070a16b46b4d4144f79bdd9dd04a287c"},
		{40, "dfa66747de9ae63030ca32611497c827"},
		{64, "51f0bebf7e3b9d92fc49741779363cfe"},
	};
	const uint8_t *message = unhex(MESSAGE, NULL);
	uint8_t mac[CMAC_LEN];
	struct cmac *cmac = cmac_new(unhex("2b7e151628aed2a6abf7158809cf4f3c", NULL));
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		for (size_t cut = 0; cut <= ROWS[i].length; cut += 8) {
			cmac_add(cmac, message, cut);
			cmac_add(cmac, message + cut, ROWS[i].length - cut);
			cmac_finish(cmac, mac);
			assert_hex(mac, sizeof(mac), ROWS[i].mac);
		}
	}
	cmac_free(cmac);
	cmac_free(NULL);
}

static void hkdf_vectors(void **state attr_unused)
{
	/* RFC 5869, A.3: neither salt nor info. */
	uint8_t secret[22], out[255 * SHA256_LEN];
	memset(secret, 0x0b, sizeof(secret));
	hkdf_sha256(secret, sizeof(secret), "", out, 42);
	assert_hex(out, 42,
	           "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
	           "9d201395faa4b61a96c8");
	/* Another info gives another key; a shorter key is a prefix of a longer one. */
	uint8_t other[42], shorter[16];
	hkdf_sha256(secret, sizeof(secret), "identity", other, sizeof(other));
	assert_memory_not_equal(out, other, sizeof(other));
	hkdf_sha256(secret, sizeof(secret), "", shorter, sizeof(shorter));
	assert_memory_equal(out, shorter, sizeof(shorter));
	hkdf_sha256(secret, sizeof(secret), "", out, sizeof(out));
	assert_memory_equal(out, shorter, sizeof(shorter));
}

static void crc32_vectors(void **state attr_unused)
{
	static const struct {
		const char *text;
		uint32_t crc;
	} ROWS[] = {
		{"", 0},
		{"a", 0xe8b7be43},
		{"123456789", 0xcbf43926}, /* the check value of the catalogue of CRCs */
		{"The quick brown fox jumps over the lazy dog", 0x414fa339},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_int_equal(crc32_of(ROWS[i].text, strlen(ROWS[i].text)), ROWS[i].crc);
	assert_int_equal(crc32_of(NULL, 0), 0);
}

static void random_bytes_differ(void **state attr_unused)
{
	uint8_t one[1000] = {0}, other[1000] = {0};
	random_bytes(one, sizeof(one));
	random_bytes(other, sizeof(other));
	assert_memory_not_equal(one, other, sizeof(one));
	int ones = 0;
	for (size_t i = 0; i < sizeof(one); i++)
		ones += __builtin_popcount(one[i]);
	assert_in_range(ones, 3500, 4500); /* 4000, within 11 standard deviations */
	uint8_t guarded[3] = {1, 2, 3};
	random_bytes(guarded + 1, 0);
	assert_int_equal(guarded[1], 2);
}

static void base62_is_uniform(void **state attr_unused)
{
	static const char DIGITS[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t length = 620000;
	char *text = arena_alloc(arena, length + 1);
	random_base62(text, length);
	assert_int_equal(strlen(text), length);
	assert_int_equal(strspn(text, DIGITS), length);
	int counts[256] = {0};
	for (size_t i = 0; i < length; i++)
		counts[(unsigned char)text[i]]++;
	/* 10000 each, within 9 standard deviations; a bare % 62 gives eight digits 12110. */
	for (size_t i = 0; i < 62; i++)
		assert_in_range(counts[(unsigned char)DIGITS[i]], 9100, 10900);
	random_base62(text, 0);
	assert_string_equal(text, "");
}

static void constant_time_comparison(void **state attr_unused)
{
	assert_true(equal_constant_time("abc", "abc", 3));
	assert_true(equal_constant_time("abx", "aby", 2));
	assert_true(equal_constant_time("a", "b", 0));
	assert_false(equal_constant_time("abc", "abd", 3));
	assert_false(equal_constant_time("abc", "bbc", 3));
	assert_false(equal_constant_time("\x80", "\x00", 1));
}

static void gcm_opens_what_it_sealed(void **state attr_unused)
{
	static const size_t LENGTHS[] = {0, 1, 15, 16, 17, 1000};
	uint8_t key[GCM_KEY_LEN];
	random_bytes(key, sizeof(key));
	for (size_t i = 0; i < ARRAY_LEN(LENGTHS); i++) {
		size_t length = LENGTHS[i];
		uint8_t *text = arena_alloc(arena, length);
		uint8_t *sealed = arena_alloc(arena, length + GCM_OVERHEAD);
		uint8_t *opened = arena_alloc(arena, length);
		random_bytes(text, length);
		gcm_seal(key, "context", text, length, sealed);
		assert_int_equal(gcm_open(key, "context", sealed, length + GCM_OVERHEAD, opened),
		                 ERR_NONE);
		assert_memory_equal(opened, text, length);
	}
}

static void gcm_vector(void **state attr_unused)
{
	/* The GCM specification's test case 16 (AES-256, with additional data), which has bytes for
	 * its additional data that are no text; so case 14: a zero key and block, none of it. */
	uint8_t key[GCM_KEY_LEN] = {0}, opened[16];
	uint8_t *sealed = unhex("000000000000000000000000"
	                        "cea7403d4d606b6e074ec5d3baf39d18"
	                        "d0d1c8a799996bf0265b98b5d48ab919",
	                        NULL);
	assert_int_equal(gcm_open(key, "", sealed, 16 + GCM_OVERHEAD, opened), ERR_NONE);
	assert_hex(opened, 16, "00000000000000000000000000000000");
}

static void gcm_refuses_every_change(void **state attr_unused)
{
	uint8_t key[GCM_KEY_LEN] = {7}, sealed[6 + GCM_OVERHEAD], opened[6];
	gcm_seal(key, "token of a", "secret", 6, sealed);
	assert_int_equal(gcm_open(key, "token of b", sealed, sizeof(sealed), opened), ERR_INVALID);
	assert_int_equal(gcm_open(key, "", sealed, sizeof(sealed), opened), ERR_INVALID);
	for (size_t length = 0; length < sizeof(sealed); length++)
		assert_int_equal(gcm_open(key, "token of a", sealed, length, opened), ERR_INVALID);
	for (size_t bit = 0; bit < 8 * sizeof(sealed); bit++) {
		sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(gcm_open(key, "token of a", sealed, sizeof(sealed), opened),
		                 ERR_INVALID);
		sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	key[31] = 1;
	assert_int_equal(gcm_open(key, "token of a", sealed, sizeof(sealed), opened), ERR_INVALID);
}

static void gcm_uses_a_new_nonce(void **state attr_unused)
{
	uint8_t key[GCM_KEY_LEN] = {7}, one[6 + GCM_OVERHEAD], other[6 + GCM_OVERHEAD];
	gcm_seal(key, "", "secret", 6, one);
	gcm_seal(key, "", "secret", 6, other);
	assert_memory_not_equal(one, other, 12);
	assert_memory_not_equal(one + 12, other + 12, 6);
}

static void hex_round_trip(void **state attr_unused)
{
	uint8_t all[256], back[256];
	char text[513];
	for (int i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	hex_encode(all, sizeof(all), text);
	assert_memory_equal(text, "000102", 6);
	assert_string_equal(text + 506, "fdfeff");
	assert_true(hex_decode(text, 512, back, 256));
	assert_memory_equal(all, back, 256);
	assert_true(hex_decode("aBcDeF", 6, back, 3));
	assert_memory_equal(back, "\xab\xcd\xef", 3);
	hex_encode("", 0, text);
	assert_string_equal(text, "");
	assert_true(hex_decode("", 0, back, 0));
}

static void bad_hex_is_refused(void **state attr_unused)
{
	static const char *const TEXTS[] = {"",     "0",    "000",  "00000",
	                                    "0g00", "00 0", "-000", "0x00"};
	uint8_t out[2];
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_false(hex_decode(TEXTS[i], strlen(TEXTS[i]), out, sizeof(out)));
	assert_false(hex_decode("00\0"
	                        "0",
	                        4, out, sizeof(out)));
	for (int byte = 0; byte <= UINT8_MAX; byte++) {
		bool is_digit = byte != 0 && strchr("0123456789abcdefABCDEF", byte);
		assert_int_equal(hex_decode((const char[]){'0', (char)byte}, 2, out, 1), is_digit);
		assert_int_equal(hex_decode((const char[]){(char)byte, '0'}, 2, out, 1), is_digit);
	}
}

static void base64_vectors(void **state attr_unused)
{
	/* RFC 4648, section 10; the last two show the digits that the alphabets differ in. */
	static const struct {
		const char *text, *base64, *base64url;
	} ROWS[] = {
		{"", "", ""},
		{"f", "Zg==", "Zg"},
		{"fo", "Zm8=", "Zm8"},
		{"foo", "Zm9v", "Zm9v"},
		{"foob", "Zm9vYg==", "Zm9vYg"},
		{"fooba", "Zm9vYmE=", "Zm9vYmE"},
		{"foobar", "Zm9vYmFy", "Zm9vYmFy"},
		{"\xfb\xef\xbe", "++++", "----"},
		{"\xff\xff\xff\xff", "/////w==", "_____w"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *text = ROWS[i].text;
		size_t length = strlen(text), got;
		assert_string_equal(base64_encode(arena, text, length), ROWS[i].base64);
		assert_string_equal(base64url_encode(arena, text, length), ROWS[i].base64url);
		char *back = base64_decode(arena, ROWS[i].base64, strlen(ROWS[i].base64), &got);
		assert_non_null(back);
		assert_int_equal(got, length);
		assert_string_equal(back, text);
		back = base64url_decode(arena, ROWS[i].base64url, strlen(ROWS[i].base64url), &got);
		assert_non_null(back);
		assert_int_equal(got, length);
		assert_string_equal(back, text);
	}
}

static void base64_round_trip_of_every_length(void **state attr_unused)
{
	uint8_t data[100];
	random_bytes(data, sizeof(data));
	for (size_t length = 0; length <= sizeof(data); length++) {
		char *text = base64url_encode(arena, data, length);
		size_t got;
		uint8_t *back = base64url_decode(arena, text, strlen(text), &got);
		assert_int_equal(got, length);
		assert_memory_equal(back, data, length);
		assert_int_equal(back[length], 0);
	}
}

static void bad_base64_is_refused(void **state attr_unused)
{
	static const char *const URL[] = {
		"A",  "AAAAA", "Zg==", "Zm8=", "Zh",   "Zm9",  "Z+",
		"Z/", "Z g",   "Zg ",  "Zg\n", "Zm.v", "====", "\xc3\xa4",
	};
	static const char *const PADDED[] = {
		"A",    "Zg",   "Zg=",  "Zg===",    "=",        "==",   "===",  "====", "A===",
		"Zh==", "Zm9=", "Z===", "Zg==Zg==", "Zm8=Zm8=", "Zm-v", "Zm_v", "Zm 9", "Zm9v\n",
	};
	size_t length = 42;
	for (size_t i = 0; i < ARRAY_LEN(URL); i++)
		assert_null(base64url_decode(arena, URL[i], strlen(URL[i]), &length));
	for (size_t i = 0; i < ARRAY_LEN(PADDED); i++)
		assert_null(base64_decode(arena, PADDED[i], strlen(PADDED[i]), &length));
	assert_null(base64_decode(arena, "Zm\0v", 4, &length));
	assert_int_equal(length, 42);
}

/* A key that was made for this test by `openssl genrsa -traditional 1024`, and in PKCS#8. */
static const char RSA_PKCS1[] = "-----BEGIN RSA PRIVATE KEY-----\n"
				"MIICXgIBAAKBgQD0LAGJs3NJXZAWJYVYZku8K2SCgzKwo02Z32DWx2OGZiFaxitU\n"
				"b4lcqB68SNGtPdvpqp8hxhV39Sb22yc6MNEkGGoaD22YwQQbXfZ+9+OQ+Qh9ZS/0\n"
				"yq3U+9BHZ7N2kMLCaTAPeLwDL5Rks81P2ecrvRLifdQzzFNOzFMaAoeJeQIDAQAB\n"
				"AoGBAME2LUVcZaaxTbnomNq5n8ZXg+IulSbnIhnXg9aQ0nVgTZZ554GZ/NUAB8ov\n"
				"yRNQNrtxExjzmLtilyGRiznltSdSIqS7AG6u81yJy8Zc5SOaMhioUrrEGYY+CoK6\n"
				"qgyYsTLr8kHe+6KjNqhP83HWZMrIlbEQtv4fHujgfoQnPVYdAkEA/Mr+iFJcjf+4\n"
				"rIzw4Z9H74yNVs9H6/0/1r0E0eqaKx/JVTQQMCfXcuu5uDoY8NFgPOqw9O7HAlQq\n"
				"kZPAIOJfBwJBAPdFA0gXddcowoidqJozeqgebA7axLLzh3pYDkcIyW1uqwlspKsq\n"
				"1WObyn/AAk2sHUBirCyZT3nMeUNTOX1UM38CQGhenyxFZPUzqVmEb0eX7alXjFtV\n"
				"BUrHqn3MWJsak0BOxV8qOazIJknKTUlkozt6FpPQCfN2SjAJ8/Fa4S4yiC0CQQDY\n"
				"8y8+6H6XCgcs0I9mxDYhHZgXrHCaxjse5/WW86mvn0Ln4O/V0p4paD5SuggLWDDO\n"
				"FgUUmGr35aSbooC1atRHAkEAr8xrnjZNXiVffqhIKIoR7H/cal4M0YUb2mQ+pNCA\n"
				"/GWkpzHBRIUVlFo8/QW9rEICOrbTu+uwbHG59Tz0F8liIQ==\n"
				"-----END RSA PRIVATE KEY-----\n";
static const char RSA_PKCS8[] = "-----BEGIN PRIVATE KEY-----\n"
				"MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAPQsAYmzc0ldkBYl\n"
				"hVhmS7wrZIKDMrCjTZnfYNbHY4ZmIVrGK1RviVyoHrxI0a092+mqnyHGFXf1Jvbb\n"
				"Jzow0SQYahoPbZjBBBtd9n7345D5CH1lL/TKrdT70Edns3aQwsJpMA94vAMvlGSz\n"
				"zU/Z5yu9EuJ91DPMU07MUxoCh4l5AgMBAAECgYEAwTYtRVxlprFNueiY2rmfxleD\n"
				"4i6VJuciGdeD1pDSdWBNlnnngZn81QAHyi/JE1A2u3ETGPOYu2KXIZGLOeW1J1Ii\n"
				"pLsAbq7zXInLxlzlI5oyGKhSusQZhj4KgrqqDJixMuvyQd77oqM2qE/zcdZkysiV\n"
				"sRC2/h8e6OB+hCc9Vh0CQQD8yv6IUlyN/7isjPDhn0fvjI1Wz0fr/T/WvQTR6por\n"
				"H8lVNBAwJ9dy67m4Ohjw0WA86rD07scCVCqRk8Ag4l8HAkEA90UDSBd11yjCiJ2o\n"
				"mjN6qB5sDtrEsvOHelgORwjJbW6rCWykqyrVY5vKf8ACTawdQGKsLJlPecx5Q1M5\n"
				"fVQzfwJAaF6fLEVk9TOpWYRvR5ftqVeMW1UFSseqfcxYmxqTQE7FXyo5rMgmScpN\n"
				"SWSjO3oWk9AJ83ZKMAnz8VrhLjKILQJBANjzLz7ofpcKByzQj2bENiEdmBescJrG\n"
				"Ox7n9Zbzqa+fQufg79XSniloPlK6CAtYMM4WBRSYavflpJuigLVq1EcCQQCvzGue\n"
				"Nk1eJV9+qEgoihHsf9xqXgzRhRvaZD6k0ID8ZaSnMcFEhRWUWjz9Bb2sQgI6ttO7\n"
				"67Bscbn1PPQXyWIh\n"
				"-----END PRIVATE KEY-----\n";

static void rsa_signs_as_openssl_does(void **state attr_unused)
{
	/* printf %s TEXT | openssl dgst -sha256 -sign KEY */
	static const char TEXT[] = "eyJhbGciOiJSUzI1NiJ9.e30";
	static const char SIGNATURE[] =
		"a093be93f42660bb2e85dabc2c6c3f4b1b7787152167c7f284244b136282b6a2"
		"999e52948518a63056a67f8547d39b53ba5566ebb6b254fe3e403f597aa050ea"
		"40104b29b493c748faad230c7c7de26e0fbb726fbd47daff33678ee43b2e322f"
		"b89be6a3b0ca4a07739fca49eb2ac57b366a595dc2152bad0ee0a11808cf3651";
	const char *const pems[] = {RSA_PKCS1, RSA_PKCS8};
	for (size_t i = 0; i < ARRAY_LEN(pems); i++) {
		struct rsa_key *key = rsa_key_new(pems[i]);
		assert_non_null(key);
		uint8_t signature[RSA_SIGNATURE_MAX];
		char hex[2 * RSA_SIGNATURE_MAX + 1];
		size_t length = rsa_sign_sha256(key, TEXT, strlen(TEXT), signature);
		hex_encode(signature, length, hex);
		assert_string_equal(hex, SIGNATURE);
		rsa_key_free(key);
	}
}

static void what_is_no_rsa_key_is_refused(void **state attr_unused)
{
	assert_null(rsa_key_new(""));
	assert_null(rsa_key_new("secret"));
	assert_null(rsa_key_new(
		"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"));
	rsa_key_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(sha256_vectors),
		ARENA_TEST(sha256_in_pieces),
		ARENA_TEST(hmac_vectors),
		ARENA_TEST(cmac_vectors),
		ARENA_TEST(hkdf_vectors),
		ARENA_TEST(crc32_vectors),
		ARENA_TEST(random_bytes_differ),
		ARENA_TEST(base62_is_uniform),
		ARENA_TEST(constant_time_comparison),
		ARENA_TEST(gcm_opens_what_it_sealed),
		ARENA_TEST(gcm_vector),
		ARENA_TEST(gcm_refuses_every_change),
		ARENA_TEST(gcm_uses_a_new_nonce),
		ARENA_TEST(hex_round_trip),
		ARENA_TEST(bad_hex_is_refused),
		ARENA_TEST(base64_vectors),
		ARENA_TEST(base64_round_trip_of_every_length),
		ARENA_TEST(bad_base64_is_refused),
		ARENA_TEST(rsa_signs_as_openssl_does),
		ARENA_TEST(what_is_no_rsa_key_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
