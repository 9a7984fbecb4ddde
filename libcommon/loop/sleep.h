/** Waiting for time to pass. */
#pragma once

#include "loop/request.h"

#include <stdint.h>

/** Suspend the request for `ms` milliseconds. Raises the reason when it is cancelled before:
 * ERR_TIMEOUT at its deadline. */
void request_sleep(struct request *rq, uint64_t ms);
