/** Putting a secret of a repository's workflows, encrypted for the repository's public key.
 *
 *     POST /internal/code-host/secrets/put
 *     {"repo", "name": "EXPOPS_KEY", "value": "auto_…"}
 *     {"repo", "name", "outcome": "created", "base_url": null}
 *
 * `outcome` is `created` or `updated`. A secret cannot be read, so each call writes it.
 *
 * With `model_provider` and no `value`, the secret is the account's own key of that provider, which
 * so never leaves this service but encrypted for the repository:
 *
 *     {"repo", "name": "MODEL_KEY", "model_provider": "custom"}
 *     {"repo", "name", "outcome": "updated", "base_url": "https://models.example.com/v1"}
 *
 * `outcome` is then `model_key_missing` when the account is not connected to the provider; nothing
 * was written. `base_url` is the address of the provider `custom`, else null.
 *
 *     POST /internal/code-host/secrets/get  {"repo", "name": "EXPOPS_KEY"}
 *     {"repo", "name", "found": true}
 *
 * Whether there is a secret of that name; its value is shown to nobody. */
#pragma once

#include "loop/request.h"

void secret_put(struct request *rq);
void secret_get(struct request *rq);
