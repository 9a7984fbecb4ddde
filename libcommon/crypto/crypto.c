#include "crypto/crypto.h"

#include "crypto/mbedtls.h"

#include <mbedtls/cmac.h>
#include <mbedtls/gcm.h>
#include <mbedtls/hkdf.h>
#include <mbedtls/md.h>
#include <zlib.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define GCM_NONCE_LEN 12
#define GCM_TAG_LEN   16

_Static_assert(GCM_OVERHEAD == GCM_NONCE_LEN + GCM_TAG_LEN, "the header states both");

void random_bytes(void *out, size_t length)
{
	uint8_t *at = out;
	while (length > 0) {
		ssize_t got = getrandom(at, length, 0);
		require(got > 0 || errno == EINTR);
		if (got > 0) {
			at += got;
			length -= (size_t)got;
		}
	}
}

void random_base62(char *out, size_t length)
{
	static const char DIGITS[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	uint8_t pool[64];
	size_t count = 0;
	while (count < length) {
		random_bytes(pool, sizeof(pool));
		/* 248 is the largest multiple of 62 in a byte; larger values would make some
		 * digits more likely. */
		for (size_t i = 0; i < sizeof(pool) && count < length; i++) {
			if (pool[i] < 248)
				out[count++] = DIGITS[pool[i] % 62];
		}
	}
	out[length] = '\0';
	explicit_bzero(pool, sizeof(pool));
}

static const mbedtls_md_info_t *sha256_info(void)
{
	return mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);
}

void sha256(const void *data, size_t length, uint8_t out[SHA256_LEN])
{
	require(mbedtls_md(sha256_info(), data, length, out) == 0);
}

struct sha256 {
	mbedtls_md_context_t md;
};

struct sha256 *sha256_new(void)
{
	struct sha256 *hash = malloc(sizeof(*hash));
	require(hash);
	mbedtls_md_init(&hash->md);
	require(mbedtls_md_setup(&hash->md, sha256_info(), 0) == 0);
	require(mbedtls_md_starts(&hash->md) == 0);
	return hash;
}

void sha256_add(struct sha256 *hash, const void *data, size_t length)
{
	require(mbedtls_md_update(&hash->md, data, length) == 0);
}

void sha256_finish(struct sha256 *hash, uint8_t out[SHA256_LEN])
{
	require(mbedtls_md_finish(&hash->md, out) == 0);
	mbedtls_md_free(&hash->md); /* wipes */
	free(hash);
}

void hmac_sha256(const void *key, size_t key_length, const void *data, size_t length,
                 uint8_t out[SHA256_LEN])
{
	require(mbedtls_md_hmac(sha256_info(), key, key_length, data, length, out) == 0);
}

void hkdf_sha256(const void *secret, size_t secret_length, const char *info, void *out,
                 size_t out_length)
{
	require(mbedtls_hkdf(sha256_info(), NULL, 0, secret, secret_length,
	                     (const unsigned char *)info, strlen(info), out, out_length) == 0);
}

struct cmac {
	mbedtls_cipher_context_t cipher;
};

struct cmac *cmac_new(const uint8_t key[CMAC_LEN])
{
	struct cmac *cmac = malloc(sizeof(*cmac));
	require(cmac);
	mbedtls_cipher_init(&cmac->cipher);
	require(mbedtls_cipher_setup(&cmac->cipher, mbedtls_cipher_info_from_type(
							    MBEDTLS_CIPHER_AES_128_ECB)) == 0);
	require(mbedtls_cipher_cmac_starts(&cmac->cipher, key, 8 * CMAC_LEN) == 0);
	return cmac;
}

void cmac_free(struct cmac *cmac)
{
	if (!cmac)
		return;
	mbedtls_cipher_free(&cmac->cipher); /* wipes */
	free(cmac);
}

void cmac_add(struct cmac *cmac, const void *data, size_t length)
{
	require(mbedtls_cipher_cmac_update(&cmac->cipher, data, length) == 0);
}

void cmac_finish(struct cmac *cmac, uint8_t out[CMAC_LEN])
{
	require(mbedtls_cipher_cmac_finish(&cmac->cipher, out) == 0);
	require(mbedtls_cipher_cmac_reset(&cmac->cipher) == 0);
}

uint32_t crc32_of(const void *data, size_t length)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, length);
}

bool equal_constant_time(const void *a, const void *b, size_t length)
{
	const volatile uint8_t *left = a, *right = b;
	uint8_t difference = 0;
	for (size_t i = 0; i < length; i++)
		difference |= left[i] ^ right[i];
	return difference == 0;
}

void gcm_seal(const uint8_t key[GCM_KEY_LEN], const char *context, const void *text, size_t length,
              uint8_t *out)
{
	uint8_t *nonce = out, *sealed = out + GCM_NONCE_LEN, *tag = sealed + length;
	random_bytes(nonce, GCM_NONCE_LEN);

	mbedtls_gcm_context gcm;
	mbedtls_gcm_init(&gcm);
	require(mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, key, 8 * GCM_KEY_LEN) == 0);
	require(mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, length, nonce, GCM_NONCE_LEN,
	                                  (const unsigned char *)context, strlen(context), text,
	                                  sealed, GCM_TAG_LEN, tag) == 0);
	mbedtls_gcm_free(&gcm);
}

enum err_code gcm_open(const uint8_t key[GCM_KEY_LEN], const char *context, const void *sealed,
                       size_t length, uint8_t *out)
{
	if (length < GCM_OVERHEAD)
		return ERR_INVALID;
	const uint8_t *nonce = sealed;
	size_t text_length = length - GCM_OVERHEAD;
	const uint8_t *tag = nonce + GCM_NONCE_LEN + text_length;

	mbedtls_gcm_context gcm;
	mbedtls_gcm_init(&gcm);
	require(mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, key, 8 * GCM_KEY_LEN) == 0);
	int failed = mbedtls_gcm_auth_decrypt(&gcm, text_length, nonce, GCM_NONCE_LEN,
	                                      (const unsigned char *)context, strlen(context), tag,
	                                      GCM_TAG_LEN, nonce + GCM_NONCE_LEN, out);
	mbedtls_gcm_free(&gcm);
	return failed ? ERR_INVALID : ERR_NONE;
}

struct rsa_key {
	mbedtls_pk_context pk;
};

struct rsa_key *rsa_key_new(const char *pem)
{
	struct rsa_key *key = calloc(1, sizeof(*key));
	require(key);
	mbedtls_pk_init(&key->pk);
	/* The NUL counts (pk.h). */
	if (crypto_pk_parse(&key->pk, (const unsigned char *)pem, strlen(pem) + 1) == 0 &&
	    mbedtls_pk_can_do(&key->pk, MBEDTLS_PK_RSA) &&
	    mbedtls_pk_get_len(&key->pk) <= RSA_SIGNATURE_MAX)
		return key;
	rsa_key_free(key);
	return NULL;
}

void rsa_key_free(struct rsa_key *key)
{
	if (!key)
		return;
	mbedtls_pk_free(&key->pk);
	free(key);
}

size_t rsa_sign_sha256(const struct rsa_key *key, const void *data, size_t length,
                       uint8_t out[RSA_SIGNATURE_MAX])
{
	uint8_t digest[SHA256_LEN];
	size_t signed_length;
	/* The key is only read; mbedTLS guards its blinding values with a mutex. */
	mbedtls_pk_context *pk = (mbedtls_pk_context *)&key->pk;
	sha256(data, length, digest);
	require(crypto_pk_sign(pk, digest, out, RSA_SIGNATURE_MAX, &signed_length) == 0);
	return signed_length;
}

void hex_encode(const void *data, size_t length, char *out)
{
	static const char DIGITS[] = "0123456789abcdef";
	const uint8_t *bytes = data;
	for (size_t i = 0; i < length; i++) {
		*out++ = DIGITS[bytes[i] >> 4];
		*out++ = DIGITS[bytes[i] & 15];
	}
	*out = '\0';
}

/* The value of a hex digit, plus 1; 0: not a hex digit. Branches instead would be mispredicted at
 * every other digit of random bytes. */
static const uint8_t HEX_VALUES[UINT8_MAX + 1] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

void sha256_hex(const void *data, size_t length, char out[SHA256_HEX_LEN + 1])
{
	uint8_t digest[SHA256_LEN];
	sha256(data, length, digest);
	hex_encode(digest, sizeof(digest), out);
}

bool hex_decode(const char *text, size_t text_length, void *out, size_t length)
{
	if (text_length % 2 != 0 || text_length / 2 != length)
		return false;
	uint8_t *bytes = out;
	for (size_t i = 0; i < length; i++) {
		unsigned high = HEX_VALUES[(uint8_t)text[2 * i]];
		unsigned low = HEX_VALUES[(uint8_t)text[2 * i + 1]];
		if (high == 0 || low == 0)
			return false;
		bytes[i] = (uint8_t)((high - 1) << 4 | (low - 1));
	}
	return true;
}

static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char BASE64URL[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *base64_write(struct arena *arena, const uint8_t *data, size_t length,
                          const char *digits, bool is_padded)
{
	char *text = arena_alloc(arena, (length + 2) / 3 * 4 + 1), *out = text;
	for (size_t i = 0; i < length; i += 3) {
		size_t count = MIN_OF(length - i, 3);
		uint32_t group = (uint32_t)data[i] << 16;
		group |= count > 1 ? (uint32_t)data[i + 1] << 8 : 0;
		group |= count > 2 ? (uint32_t)data[i + 2] : 0;
		for (size_t j = 0; j < 4; j++) {
			if (j <= count)
				*out++ = digits[group >> (18 - 6 * j) & 63];
			else if (is_padded)
				*out++ = '=';
		}
	}
	return text;
}

char *base64_encode(struct arena *arena, const void *data, size_t length)
{
	return base64_write(arena, data, length, BASE64, true);
}

char *base64url_encode(struct arena *arena, const void *data, size_t length)
{
	return base64_write(arena, data, length, BASE64URL, false);
}

/* -1: not a digit. `digits` may differ from BASE64 in the last two. */
static int base64_value(char digit, const char *digits)
{
	if (digit >= 'A' && digit <= 'Z')
		return digit - 'A';
	if (digit >= 'a' && digit <= 'z')
		return digit - 'a' + 26;
	if (digit >= '0' && digit <= '9')
		return digit - '0' + 52;
	if (digit == digits[62])
		return 62;
	return digit == digits[63] ? 63 : -1;
}

/* Decode text without padding; unused bits must be zero. */
static void *base64_read(struct arena *arena, const char *text, size_t text_length,
                         const char *digits, size_t *ret_length)
{
	if (text_length % 4 == 1)
		return NULL;
	size_t length = text_length / 4 * 3 + text_length % 4 * 3 / 4, count = 0;
	uint8_t *data = arena_alloc(arena, length + 1);
	uint32_t bits = 0;
	int bit_count = 0;
	for (size_t i = 0; i < text_length; i++) {
		int value = base64_value(text[i], digits);
		if (value < 0)
			return NULL;
		bits = (bits << 6 | (uint32_t)value) & 0xfff;
		bit_count += 6;
		if (bit_count >= 8) {
			bit_count -= 8;
			data[count++] = (uint8_t)(bits >> bit_count);
			bits &= (1U << bit_count) - 1;
		}
	}
	if (bits != 0)
		return NULL;
	*ret_length = length;
	return data;
}

void *base64url_decode(struct arena *arena, const char *text, size_t text_length,
                       size_t *ret_length)
{
	return base64_read(arena, text, text_length, BASE64URL, ret_length);
}

void *base64_decode(struct arena *arena, const char *text, size_t text_length, size_t *ret_length)
{
	if (text_length % 4 != 0)
		return NULL;
	for (int i = 0; i < 2 && text_length > 0 && text[text_length - 1] == '='; i++)
		text_length--;
	return base64_read(arena, text, text_length, BASE64, ret_length);
}
