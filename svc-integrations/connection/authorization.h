/** Connecting by OAuth, the authorization code grant with PKCE S256.
 *
 *     auth-url   makes a random state and verifier; stores the state's hash and the sealed verifier
 *     callback   takes the attempt of the state, which deletes it, exchanges the code and stores
 *                the connection
 *
 * A state belongs to the account that asked for it, lives ten minutes and works once. Nothing is
 * locked while the provider is called. When the process dies there, nothing is connected; a
 * repetition, also with the same Idempotency-Key, reads that its state was used, and the user
 * begins again. */
#pragma once

#include "loop/request.h"

/** GET /integrations/{provider_name}/auth-url */
void authorization_url_get(struct request *rq);

/** POST /integrations/{provider_name}/callback */
void authorization_callback(struct request *rq);
