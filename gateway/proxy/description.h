/** GET /openapi.json: what the product publishes of itself. */
#pragma once

#include "loop/request.h"

void description_get(struct request *rq);
