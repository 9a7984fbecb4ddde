/** Connecting to a model provider by an API key. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>

/** POST /integrations/{provider_name}/connect: try the key at the provider, and store it sealed. It
 * is never returned by the public interface. */
void model_key_connect(struct request *rq);

struct model_key {
	const char *api_key;  /* in an arena that is wiped with the request */
	const char *base_url; /* of the provider `custom`; NULL for the others */
};

/** The key that the account is connected with, for storing it as a secret of a repository. It must
 * be given to nobody else. False: the account is not connected to that model provider. Suspends. */
bool model_key_get(struct request *rq, const struct uuid *account, const char *provider,
                   struct model_key *ret_key);
