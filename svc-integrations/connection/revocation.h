/** Revoking the tokens of removed and replaced connections at their provider. */
#pragma once

#include "connection/credentials.h"
#include "loop/request.h"
#include "provider/provider.h"
#include "task/task.h"

/** Revoke tokens in a task that the account got and no connection has. Suspends; must not be called
 * inside a transaction. */
void revocation_start(struct request *rq, struct arena *arena, const char *account,
                      const struct provider *provider, const struct credentials *tokens);

/** Job `revoke`, {"connection_id"}: revoke the tokens of one removed connection, then forget them.
 * The SQL functions connection_remove() and connection_replaced() start it, too. A provider that
 * does not answer is tried again for a day. At the code host, access tokens that have expired are
 * refreshed first, and the fresh pair is stored; a process that dies before that loses it, and the
 * grant stays at the code host. */
void revocation_run(struct request *rq, struct task *task);

/** Recurring: forget the tokens that could not be revoked. */
void revocations_forget(struct request *rq);
