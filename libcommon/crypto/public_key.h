/** Public keys of others, and signatures by them: those of JSON Web Signatures (RFC 7518).
 *
 * A key is the numbers that a JSON Web Key has (RFC 7518 section 6), big-endian. It is used as it
 * is and owns nothing, so threads may share it and it may live in any arena. */
#pragma once

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum signature_algorithm {
	SIGNATURE_RS256, /* RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2) */
	SIGNATURE_ES256, /* ECDSA on P-256 with SHA-256; the signature is r and s, 32 bytes each */
	SIGNATURE_ALGORITHM_COUNT
};

/** The name in the member `alg`, such as RS256. */
const char *signature_algorithm_name(enum signature_algorithm algorithm);

/** Find an algorithm by its name. False: it is unknown, or NULL. */
bool signature_algorithm_find(const char *name, enum signature_algorithm *ret_algorithm);

struct key_number {
	const uint8_t *bytes;
	size_t length;
};

struct public_key {
	enum signature_algorithm algorithm;
	struct key_number n, e; /* SIGNATURE_RS256: modulus and exponent */
	struct key_number x, y; /* SIGNATURE_ES256: the point, 32 bytes each */
};

/** Whether the numbers are a key: a modulus of 2048 to 8192 bits with an exponent of at most 32
 * bits, which bounds the time of public_key_verify(); a point on the curve. */
bool public_key_is_valid(const struct public_key *key) attr_must_use;

/** Whether `signature` is the key's of `data`. False also for a key that is not valid. Takes a
 * millisecond or more: for the thread pool. */
bool public_key_verify(const struct public_key *key, const void *data, size_t length,
                       const void *signature, size_t signature_length) attr_must_use;
