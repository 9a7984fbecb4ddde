/** Connecting to a model provider by an API key. */
#pragma once

#include "loop/request.h"

/** POST /integrations/{provider_name}/connect: try the key at the provider, and store it sealed. It is
 * never returned by the public interface. */
void model_key_connect(struct request *rq);
