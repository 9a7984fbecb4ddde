/** A test message to an endpoint, at once and once; it leaves nothing. */
#pragma once

#include "loop/request.h"

/** POST /webhooks/{webhook_id}/test: {"delivered", "status", "duration_ms", "response", "error"}.
 * The message is the example of the type that the body names. */
void endpoint_test(struct request *rq);
