/** Who made a connection or an endpoint of messages, and its end. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** Events `member.removed` and `member.disabled`, {"person_id", "key_ids", "is_founder"}: end the
 * connections by OAuth that the person has made, since these act with their rights at the provider,
 * and disable the endpoints that they have set up. Keys of model providers stay, and what an
 * automation key has set up: these are the account's. */
void maker_gone(struct request *rq, const struct event *event);
