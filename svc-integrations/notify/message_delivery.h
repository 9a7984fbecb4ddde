/** What became of the messages of an endpoint, and sending them again. */
#pragma once

#include "loop/request.h"

/** GET /webhooks/{webhook_id}/deliveries */
void message_delivery_list(struct request *rq);

/** GET /webhooks/{webhook_id}/deliveries/{delivery_id}: with the body and each attempt. */
void message_delivery_get(struct request *rq);

/** POST /webhooks/{webhook_id}/deliveries/{delivery_id}/replay: a new round of attempts of the
 * same message. */
void message_delivery_replay(struct request *rq);

/** POST /webhooks/{webhook_id}/recover: the same for all that have failed of a time, in their
 * order. */
void message_delivery_recover(struct request *rq);
