/** svc-integrations/notify/endpoint/: where accounts want their messages.
 *
 *     endpoint.c         endpoints: making, changing and removing them
 *     endpoint_email.c   those that are the address of a mail
 *     endpoint_kind.c    in which form messages are sent
 *     endpoint_url.c     which addresses an endpoint may have
 *     endpoint_secret.c  its signing key, or its secret address, sealed
 *     event_type.c       the types of messages, from the API's description
 *     email_confirmation.c  whether an address wants messages
 *     email_page.c       the pages behind the links of mails
 *
 * Endpoints are rows of the table `endpoint`, at most ENDPOINTS_MAX of an account. */
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
