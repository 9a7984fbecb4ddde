/** Seals what a request stores for a later request that brings a secret, and opens it again.
 *
 * The secret is not stored, so who reads the database cannot open it; and neither can who knows the
 * secret alone, since the key is made of it and of the first of SEAL_SECRETS. The others still open
 * what was sealed before they were replaced. AES-256-GCM (crypto/crypto.h) under HKDF-SHA-256. */
#pragma once

#include "loop/request.h"

#include <stddef.h>
#include <stdint.h>

struct held_secret {
	const char *purpose; /* `idempotency`: the same secret has another key for each purpose */
	const char *secret;
	const char *context; /* authenticated and not stored: the row that it belongs to */
};

/** Seal `length` bytes; `out` holds length + GCM_OVERHEAD. */
void held_secret_seal(struct request *rq, const struct held_secret *held, const void *text,
                      size_t length, uint8_t *out);

/** Open what held_secret_seal() wrote, `length` bytes of at least GCM_OVERHEAD, in the arena and
 * NUL-terminated. NULL: the secret or the context is another, or none of SEAL_SECRETS has sealed
 * it. */
char *held_secret_open(struct request *rq, const struct held_secret *held, const void *sealed,
                       size_t length);
