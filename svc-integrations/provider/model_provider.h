/** Tries the API key of a model provider: one call that lists its models and costs nothing. */
#pragma once

#include "provider/provider.h"

/** Call the provider with `api_key`. `base_url` is the address for the provider `custom`, which
 * must be OpenAI-compatible (`https://models.example.com/v1`); NULL for the others. Suspends.
 *
 * Raises ERR_INVALID, naming api_key, with the provider's own reason: it was refused; ERR_UPSTREAM:
 * the provider does not answer; ERR_INVALID, naming base_url: it leads to an address that is
 * neither public nor listed in FETCH_ALLOW. */
void model_key_try(struct request *rq, const struct provider *provider, const char *base_url,
                   const char *api_key);
