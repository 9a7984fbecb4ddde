#include "crypto/public_key.h"

#include "crypto/crypto.h"

#include <mbedtls/ecdsa.h>
#include <mbedtls/ecp.h>
#include <mbedtls/pk.h>
#include <mbedtls/rsa.h>

#include <string.h>

#define RSA_BITS_MIN     2048
#define RSA_BITS_MAX     8192
#define RSA_EXPONENT_MAX 4  /* bytes */
#define P256_LEN         32 /* bytes of a coordinate, and of r and s */

static const char *const NAMES[SIGNATURE_ALGORITHM_COUNT] = {
	[SIGNATURE_RS256] = "RS256",
	[SIGNATURE_ES256] = "ES256",
};

const char *signature_algorithm_name(enum signature_algorithm algorithm)
{
	return NAMES[algorithm];
}

bool signature_algorithm_find(const char *name, enum signature_algorithm *ret_algorithm)
{
	for (int i = 0; name && i < SIGNATURE_ALGORITHM_COUNT; i++)
		if (strcmp(NAMES[i], name) == 0) {
			*ret_algorithm = (enum signature_algorithm)i;
			return true;
		}
	return false;
}

/* --- RSA -------------------------------------------------------------------------------------- */

/* Read the numbers into an initialised context. False: they are no key. */
static bool rsa_import(mbedtls_pk_context *pk, const struct public_key *key)
{
	if (key->n.length > RSA_BITS_MAX / 8 || key->e.length > RSA_EXPONENT_MAX)
		return false;
	require(mbedtls_pk_setup(pk, mbedtls_pk_info_from_type(MBEDTLS_PK_RSA)) == 0);
	mbedtls_rsa_context *rsa = mbedtls_pk_rsa(*pk);
	return mbedtls_rsa_import_raw(rsa, key->n.bytes, key->n.length, NULL, 0, NULL, 0, NULL, 0,
	                              key->e.bytes, key->e.length) == 0 &&
	       mbedtls_rsa_complete(rsa) == 0 && mbedtls_rsa_check_pubkey(rsa) == 0 &&
	       mbedtls_pk_get_bitlen(pk) >= RSA_BITS_MIN;
}

static bool rsa_is_valid(const struct public_key *key)
{
	mbedtls_pk_context pk;
	mbedtls_pk_init(&pk);
	bool is_valid = rsa_import(&pk, key);
	mbedtls_pk_free(&pk);
	return is_valid;
}

static bool rsa_verify(const struct public_key *key, const uint8_t digest[SHA256_LEN],
                       const uint8_t *signature, size_t length)
{
	mbedtls_pk_context pk;
	mbedtls_pk_init(&pk);
	bool is_valid =
		rsa_import(&pk, key) && mbedtls_pk_verify(&pk, MBEDTLS_MD_SHA256, digest,
	                                                  SHA256_LEN, signature, length) == 0;
	mbedtls_pk_free(&pk);
	return is_valid;
}

/* --- ECDSA ------------------------------------------------------------------------------------ */

/* A point of the curve. */
struct p256 {
	mbedtls_ecp_group group;
	mbedtls_ecp_point point;
};

static void p256_free(struct p256 *p256)
{
	mbedtls_ecp_point_free(&p256->point);
	mbedtls_ecp_group_free(&p256->group);
}

/* Read the point; p256_free() it in any case. False: it is not on the curve. */
static bool p256_import(struct p256 *p256, const struct public_key *key)
{
	uint8_t text[1 + 2 * P256_LEN] = {4}; /* uncompressed (SEC 1 section 2.3.3) */
	mbedtls_ecp_group_init(&p256->group);
	mbedtls_ecp_point_init(&p256->point);
	if (key->x.length != P256_LEN || key->y.length != P256_LEN)
		return false;
	memcpy(text + 1, key->x.bytes, P256_LEN);
	memcpy(text + 1 + P256_LEN, key->y.bytes, P256_LEN);
	require(mbedtls_ecp_group_load(&p256->group, MBEDTLS_ECP_DP_SECP256R1) == 0);
	return mbedtls_ecp_point_read_binary(&p256->group, &p256->point, text, sizeof(text)) == 0 &&
	       mbedtls_ecp_check_pubkey(&p256->group, &p256->point) == 0;
}

static bool p256_is_valid(const struct public_key *key)
{
	struct p256 p256;
	bool is_valid = p256_import(&p256, key);
	p256_free(&p256);
	return is_valid;
}

/* mbedTLS compares the result in a time that depends on public values only. */
static bool p256_verify_numbers(struct p256 *p256, const uint8_t digest[SHA256_LEN],
                                const uint8_t *signature)
{
	mbedtls_mpi r, s;
	mbedtls_mpi_init(&r);
	mbedtls_mpi_init(&s);
	require(mbedtls_mpi_read_binary(&r, signature, P256_LEN) == 0);
	require(mbedtls_mpi_read_binary(&s, signature + P256_LEN, P256_LEN) == 0);
	bool is_valid =
		mbedtls_ecdsa_verify(&p256->group, digest, SHA256_LEN, &p256->point, &r, &s) == 0;
	mbedtls_mpi_free(&r);
	mbedtls_mpi_free(&s);
	return is_valid;
}

static bool p256_verify(const struct public_key *key, const uint8_t digest[SHA256_LEN],
                        const uint8_t *signature, size_t length)
{
	struct p256 p256;
	bool is_valid = p256_import(&p256, key) && length == 2 * P256_LEN &&
	                p256_verify_numbers(&p256, digest, signature);
	p256_free(&p256);
	return is_valid;
}

/* --- Both ------------------------------------------------------------------------------------- */

static const struct {
	bool (*is_valid)(const struct public_key *key);
	bool (*verify)(const struct public_key *key, const uint8_t digest[SHA256_LEN],
	               const uint8_t *signature, size_t length);
} ALGORITHMS[SIGNATURE_ALGORITHM_COUNT] = {
	[SIGNATURE_RS256] = {rsa_is_valid, rsa_verify},
	[SIGNATURE_ES256] = {p256_is_valid, p256_verify},
};

bool public_key_is_valid(const struct public_key *key)
{
	return ALGORITHMS[key->algorithm].is_valid(key);
}

bool public_key_verify(const struct public_key *key, const void *data, size_t length,
                       const void *signature, size_t signature_length)
{
	uint8_t digest[SHA256_LEN];
	sha256(data, length, digest);
	return ALGORITHMS[key->algorithm].verify(key, digest, signature, signature_length);
}
