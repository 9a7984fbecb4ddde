/** What differs between mbedTLS 2.28 (Debian 12) and 3.6 (Debian 13). Only files that are written
 * over mbedTLS include it. */
#pragma once

#include "crypto/crypto.h"

#include <mbedtls/pk.h>
#include <mbedtls/version.h>

/** Random bytes, in the form that mbedTLS asks for. */
static inline int crypto_random(void *unused, unsigned char *out, size_t length)
{
	(void)unused;
	random_bytes(out, length);
	return 0;
}

#if MBEDTLS_VERSION_MAJOR >= 3

/** Read a private key from PEM; `length` counts the NUL at its end. */
static inline int crypto_pk_parse(mbedtls_pk_context *pk, const unsigned char *pem, size_t length)
{
	return mbedtls_pk_parse_key(pk, pem, length, NULL, 0, crypto_random, NULL);
}

/** Sign a SHA-256 digest; `out` has `size` bytes. */
static inline int crypto_pk_sign(mbedtls_pk_context *pk, const uint8_t digest[SHA256_LEN],
                                 uint8_t *out, size_t size, size_t *ret_length)
{
	return mbedtls_pk_sign(pk, MBEDTLS_MD_SHA256, digest, SHA256_LEN, out, size, ret_length,
	                       crypto_random, NULL);
}

/** 0: the private key belongs to the public one. */
static inline int crypto_pk_check_pair(const mbedtls_pk_context *public,
                                       const mbedtls_pk_context *private)
{
	return mbedtls_pk_check_pair(public, private, crypto_random, NULL);
}

#else

static inline int crypto_pk_parse(mbedtls_pk_context *pk, const unsigned char *pem, size_t length)
{
	return mbedtls_pk_parse_key(pk, pem, length, NULL, 0);
}

static inline int crypto_pk_sign(mbedtls_pk_context *pk, const uint8_t digest[SHA256_LEN],
                                 uint8_t *out, size_t size, size_t *ret_length)
{
	(void)size;
	return mbedtls_pk_sign(pk, MBEDTLS_MD_SHA256, digest, SHA256_LEN, out, ret_length,
	                       crypto_random, NULL);
}

static inline int crypto_pk_check_pair(const mbedtls_pk_context *public,
                                       const mbedtls_pk_context *private)
{
	return mbedtls_pk_check_pair(public, private);
}

#endif
