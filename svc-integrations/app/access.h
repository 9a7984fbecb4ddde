/** Whether the caller may act on a repository at the code host. */
#pragma once

#include "app/code_host.h"

/** Return when the caller may act on `repo`:
 *
 * - with an automation key that is bound to it, if the key proves that it is the account's
 *   (identity.is_repo_verified); also when a service passes on the proof of such a key
 * - when the account's own code-host connection can push to it. That is asked of the code host; a
 *   yes is remembered for five minutes, and ends with the connection.
 *
 * Sets the number of the repository that the connection can push to; a key proves a name only.
 *
 * Raises ERR_NOT_FOUND otherwise, also when the app is installed there and for an automation key
 * that is bound to no repository; ERR_FORBIDDEN: the key is bound to another one; ERR_CONFLICT: the
 * code host accepts the connection no more. Suspends. */
void access_require(struct request *rq, struct repository_name *repo);

/** How to call the code host as the user of the account's connection. Suspends; raises as
 * connection_token(). */
struct code_host_auth access_connection_auth(struct request *rq);
