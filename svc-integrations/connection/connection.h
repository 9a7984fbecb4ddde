/** svc-integrations/connection/: an account's connections to providers.
 *
 *     credentials.c    the secrets of a connection, sealed for its row
 *     authorization.c  connecting by OAuth: the authorization URL, and the callback with its code
 *     model_key.c      connecting by an API key
 *     connection.c     listing and removing
 *     maker.c          who made a connection, and its end with their place in the account
 *     token.c          an access token that is still valid, refreshed by one replica at a time
 *     revocation.c     revoking the tokens of removed connections
 *     reseal.c         sealing everything anew with the first key
 *
 * A connection is a row of the table `connection`, at most one for an account and a provider.
 * Connecting again replaces it. */
#pragma once

#include "loop/request.h"
#include "provider/provider.h"

/** GET /integrations/providers */
void provider_list(struct request *rq);

/** Reply that the provider is connected now, with the JSON of the connection. */
void connection_reply(struct request *rq, const struct provider *provider, const char *connection);

/** GET /integrations/connections */
void connection_list(struct request *rq);

/** GET /integrations/{provider_name}/status */
void connection_status_get(struct request *rq);

/** DELETE /integrations/{provider_name}: remove the connection, and revoke its tokens in a task. */
void connection_delete(struct request *rq);
