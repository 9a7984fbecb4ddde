/** Who sent a request to this service, and whether it may use the operation. Only for
 * http_request.c.
 *
 * The sender is another process of the cluster, known by its signature (crypto/identity.h). The
 * gateway sends requests of callers with an API key, for operations of api.def. Every process sends
 * its own, as KEY_SERVICE, for the operations that internal.def lists for it. Whatever else a
 * process signs is refused and logged: it has a bug, or somebody else uses its secrets. */
#pragma once

#include "crypto/identity.h"
#include "http/internal_api.h"
#include "http/server.h"

struct verified_sender {
	enum api_service process;
	struct identity caller;
};

/** The outcome of a check. */
struct access {
	enum err_code code;
	const char *detail; /* NULL: the code's own */
	const char *scope;  /* with ERR_SCOPE: the missing one */
};

/** Verify the identity of the request. Strings are in the arena of the exchange.
 * ERR_UNAUTHENTICATED: there is none. ERR_MISDIRECTED: no secret of its sender makes this
 * signature: it was meant for another process, or the secrets differ. ERR_UNAVAILABLE: the clocks
 * of the two processes differ. Both are faults of the cluster and not of the caller. */
struct access access_authenticate(struct identity_verifier *verifier, struct http_exchange *x,
                                  struct verified_sender *ret_sender);

/** ERR_NOT_FOUND: the sender may not use the operation. */
struct access access_check_internal(const struct verified_sender *sender,
                                    const struct internal_op *op);

/** ERR_FORBIDDEN: the sender may not use the operation. The errors of api_permit(): its caller may
 * not. */
struct access access_check_public(const struct verified_sender *sender, const struct api_op *op);
