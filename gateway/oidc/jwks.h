/** The keys that a provider signs with: a JSON Web Key Set (RFC 7517 section 5). */
#pragma once

#include "base/arena.h"
#include "crypto/public_key.h"

#include <yyjson.h>

#include <stddef.h>

#define JWKS_KEYS_MAX 100

struct jwk {
	const char *kid;
	struct public_key key;
};

struct jwks {
	const struct jwk *keys;
	size_t count;
};

/** Read the keys that can verify, in the arena: of RS256 and ES256, for signatures, with a `kid`,
 * at most JWKS_KEYS_MAX. Others are left out. */
struct jwks jwks_read(struct arena *arena, yyjson_val *root);

/** The key with this `kid` for this algorithm, whose numbers are in the arena of the set; NULL:
 * there is none. */
const struct public_key *jwks_find(const struct jwks *jwks, const char *kid,
                                   enum signature_algorithm algorithm);
