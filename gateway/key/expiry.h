/** Keys that expire soon, of which accounts hear 30 and 7 days before. Internal to the gateway. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** KEY_EXPIRY_CHECK */
extern const struct setting KEY_EXPIRY_SETTINGS[];
extern int64_t key_expiry_check_ms;

/** One pass of the recurring work. Replicas that run it at the same time take different keys. */
void keys_expiring_announce(struct request *rq);
