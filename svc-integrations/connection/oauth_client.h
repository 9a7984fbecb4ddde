/** The OAuth client that this service is at a provider. At the code host it is that of
 * CODE_HOST_CLIENT_ID and CODE_HOST_CLIENT_SECRET, or, where they are not set, the client of the
 * registered app, so that no second app is needed. */
#pragma once

#include "provider/provider.h"

/** The provider with the client to use: itself, or a copy in the arena of `rq`. Suspends. Raises as
 * registration_open(). */
const struct provider *oauth_client_of(struct request *rq, const struct provider *provider);

/** Whether everything that a connection needs is there. Suspends. */
bool oauth_client_is_configured(struct request *rq, const struct provider *provider);

/** As provider_get(), for an operation of OAuth, with the client to use. Raises also ERR_AUTH_TYPE:
 * it is connected by an API key; ERR_NOT_CONFIGURED: it has no client, or an address is not set. */
const struct provider *oauth_client_get(struct request *rq, const char *name);
