/** The other processes of the cluster: where they are, and the secrets that this process shares
 * with each (crypto/identity.h). Never changes after the start.
 *
 * Secrets are written `svc-search=SECRET svc-interests=SECRET,OLDER`: processes are separated by
 * white space, the secrets of one by commas. The first secret signs, all verify. So a secret is
 * replaced without an interruption in three steps: add the new one behind the old one at the
 * receiver; put it in place of the old one at the sender; remove the old one at the receiver. */
#pragma once

#include "crypto/identity.h"
#include "http/api.h"

#define PEER_SECRET_MIN 32 /* characters */

struct peers {
	/* By enum api_service: `http://host:port` or `unix:/path`; NULL or "": not deployed. */
	const char *const *url;
	/* By enum api_service: signs requests for it; NULL: this process has no secret for it. */
	struct identity_signer *signers[API_SERVICE_COUNT];
	/* Of requests that this process receives: each worker verifies them with a copy. */
	struct identity_verifier *verifier;
};

/** The settings from which struct peers is made. */
struct peer_settings {
	enum api_service self;
	const char *const *url;     /* as in struct peers; borrows */
	const char *sign_secrets;   /* of the processes that this one calls */
	const char *verify_secrets; /* of the processes that call this one */
};

/** Make the signers and the verifier. ERR_INVALID, after one line on standard error for each
 * fault, which does not contain a secret: a list has not the form above, names an unknown process,
 * or one twice, or has a secret of fewer than PEER_SECRET_MIN characters; there is no secret for a
 * service that has an address and that internal.def lets this process call; or a service has none
 * for the gateway. */
enum err_code peers_init(struct peers *peers, const struct peer_settings *settings) attr_must_use;

/** Wipe and free what peers_init() made. */
void peers_free(struct peers *peers);
