/** The secret of an endpoint, stored sealed for it. Of a webhook its signing key
 * (crypto/webhook_signature.h), which is shown once; of a Slack endpoint its address. */
#pragma once

#include "loop/request.h"
#include "vault/vault.h"

#include <stdint.h>

/** A new secret. */
struct endpoint_secret {
	const char *text; /* in the arena of the request, which is wiped when it is freed */
	const char *hint; /* its last four characters */
	struct sealed sealed;
};

/** Make one for an endpoint of an account, UUID texts. */
struct endpoint_secret endpoint_secret_new(struct request *rq, const char *endpoint,
                                           const char *account);

/** Seal a secret that the caller has given. */
struct endpoint_secret endpoint_secret_of(struct request *rq, const char *endpoint,
                                          const char *account, const char *text);

/** Open a secret that was sealed for the endpoint; the request's memory is wiped when it is freed.
 * NULL: the row was changed, or its key is missing from SEAL_KEYS, which is logged. */
const char *endpoint_secret_open(struct request *rq, const char *endpoint, const char *account,
                                 const void *sealed, size_t length);
