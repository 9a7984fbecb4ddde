/** Endpoints: rows of the table `endpoint`, at most ENDPOINTS_MAX of an account. */
#pragma once

#include "loop/request.h"

#define ENDPOINTS_MAX 20

/** GET /webhooks */
void endpoint_list(struct request *rq);

/** POST /webhooks: the answer alone has the secret. */
void endpoint_create(struct request *rq);

/** GET, PATCH, DELETE /webhooks/{webhook_id} */
void endpoint_get(struct request *rq);
void endpoint_update(struct request *rq);
void endpoint_delete(struct request *rq);

/** POST /webhooks/{webhook_id}/rotate-secret */
void endpoint_rotate(struct request *rq);
