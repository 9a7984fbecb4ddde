/** Waiting for time to pass. */
#pragma once

#include <stdint.h>

#include "request.h"

/** Suspend the request for `ms` milliseconds. Raises ERR_TIMEOUT when its deadline comes first. */
void request_sleep(struct request *rq, uint64_t ms);
