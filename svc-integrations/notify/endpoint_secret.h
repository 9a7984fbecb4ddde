/** The signing key of a webhook: `whsec_` and the base64 of 32 random bytes, as Standard Webhooks
 * has it. It is shown once and stored sealed for its endpoint. */
#pragma once

#include "loop/request.h"
#include "vault/vault.h"

#include <stdint.h>

#define ENDPOINT_KEY_BYTES 32

/** A new secret. */
struct endpoint_secret {
	const char *text; /* in the arena of the request, which is wiped when it is freed */
	const char *hint; /* its last four characters */
	struct sealed sealed;
};

/** Make one for an endpoint of an account, UUID texts. */
struct endpoint_secret endpoint_secret_new(struct request *rq, const char *endpoint,
                                           const char *account);
