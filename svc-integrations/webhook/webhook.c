#include "webhook/webhook.h"

#include "base/base.h"
#include "webhook/delivery.h"
#include "webhook/redelivery.h"
#include "webhook/webhook_signature.h"

#include <stdio.h>

const char *webhook_secrets;
int64_t delivery_retention_days, redelivery_interval_ms, redelivery_check_ms;

const struct setting WEBHOOK_SETTINGS[] = {
	SETTING_SECRET(&webhook_secrets, "CODE_HOST_WEBHOOK_SECRETS", "",
                       "Secrets of the code host's webhooks, separated by commas; each of them is "
                       "accepted; empty: no delivery is."),
	SETTING_INT(&delivery_retention_days, "DELIVERY_RETENTION", "30", 4, 365,
                    "Days for which deliveries of webhooks are kept."),
	SETTING_MS(&redelivery_interval_ms, "REDELIVERY_INTERVAL", "10m", 100, 86400000,
                   "Interval of asking the code host to send again what did not arrive."),
	SETTING_END,
};

enum err_code webhook_init(void)
{
	const char *fault = webhook_signature_init(webhook_secrets);
	redelivery_check_ms = MAX_OF(redelivery_interval_ms / 10, 50);
	if (!fault)
		return ERR_NONE;
	fprintf(stderr, "CODE_HOST_WEBHOOK_SECRETS: %s\n", fault);
	return ERR_INVALID;
}
