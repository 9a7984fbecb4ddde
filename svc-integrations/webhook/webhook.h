/** svc-integrations/webhook/: the code host's webhooks: what it delivers becomes events for the
 * other services.
 *
 *     webhook.c             settings
 *     webhook_signature.c   whether a delivery is the code host's
 *     code_host_event.c     what a delivery says, as events of one form
 *     delivery.c            taking a delivery in; the ledger
 *     delivery_command.c    `svc-integrations deliveries`: reading the ledger, applying again
 *     redelivery.c          asking the code host to send again what did not arrive
 *
 * Words used here:
 *   delivery  one request of the code host, with an id that its repetitions share
 *   event     an entry of the stream events.code_host (code_host_event.h)
 *   fact      what an event says. The app's webhook and a repository's own webhook may report the
 *             same fact in two deliveries. An event's id is a hash of its fact (code_host_event.h),
 *             so both deliveries make one event
 *   ledger    the tables `delivery` and `delivery_seen`: one row for each delivery of the last
 *             DELIVERY_RETENTION days, and what became of it; of a body over 1 MiB what is read
 *
 * Only deliveries with a right signature leave anything. One that is stored has been answered with
 * 202, or the answer was lost; then the code host reports a failure, and sends it again when
 * redelivery.c asks. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <stdint.h>

/** CODE_HOST_WEBHOOK_SECRETS, DELIVERY_RETENTION, REDELIVERY_INTERVAL. */
extern const struct setting WEBHOOK_SETTINGS[];

/** Read the secrets. Once, after the settings are loaded. ERR_INVALID: a secret is
 * too short; printed on standard error. */
enum err_code webhook_init(void);

struct webhook_secrets; /* webhook_signature.h */

/** The secrets of the settings; without any, or where the settings say so, that of the registered
 * app (registration/registration.h), behind them. Suspends. */
const struct webhook_secrets *webhook_secrets_get(struct request *rq);

/** Whether deliveries are expected: a secret is set, or the registered app has a webhook whose
 * address the code host can reach. Suspends. */
bool webhook_is_active(struct request *rq);

/** The settings, for the files of this folder. */
extern int64_t delivery_retention_days;
extern int64_t redelivery_interval_ms;
