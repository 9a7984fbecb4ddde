#include "webhook/webhook.h"

#include "base/base.h"
#include "registration/registration.h"
#include "webhook/delivery.h"
#include "webhook/redelivery.h"
#include "webhook/webhook_signature.h"

#include <stdio.h>
#include <string.h>

static const char *secret_list;
static struct webhook_secrets secrets_of_settings;
int64_t delivery_retention_days, redelivery_interval_ms, redelivery_check_ms;

const struct setting WEBHOOK_SETTINGS[] = {
	SETTING_SECRET(&secret_list, "CODE_HOST_WEBHOOK_SECRETS", "",
                       "Secrets of the code host's webhooks, separated by commas; each of them is "
                       "accepted. The word stored: that of the registered app, as when empty."),
	SETTING_INT(&delivery_retention_days, "DELIVERY_RETENTION", "30", 4, 365,
                    "Days for which deliveries of webhooks are kept."),
	SETTING_MS(&redelivery_interval_ms, "REDELIVERY_INTERVAL", "10m", 100, 86400000,
                   "Interval of asking the code host to send again what did not arrive."),
	SETTING_END,
};

enum err_code webhook_init(void)
{
	const char *fault = webhook_secrets_read(secret_list, &secrets_of_settings);
	delivery_metrics_start();
	redelivery_check_ms = MAX_OF(redelivery_interval_ms / 10, 50);
	if (!fault)
		return ERR_NONE;
	fprintf(stderr, "CODE_HOST_WEBHOOK_SECRETS: %s\n", fault);
	return ERR_INVALID;
}

const struct webhook_secrets *webhook_secrets_get(struct request *rq)
{
	if (secrets_of_settings.count > 0 && !secrets_of_settings.has_stored)
		return &secrets_of_settings;
	struct webhook_secrets *found = arena_new_of(rq->arena, struct webhook_secrets);
	*found = secrets_of_settings;
	struct registration_secrets secrets;
	if (!registration_open(rq, &secrets) || !secrets.webhook_secret)
		return found;
	found->list[found->count++] = (struct webhook_secret){
		.text = secrets.webhook_secret,
		.length = strlen(secrets.webhook_secret),
	};
	return found;
}

bool webhook_is_active(struct request *rq)
{
	if (secrets_of_settings.count > 0)
		return true;
	const struct registration *app = registration_get(rq);
	return app && app->is_webhook_active;
}
