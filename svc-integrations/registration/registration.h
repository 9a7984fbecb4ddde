/** svc-integrations/registration/: the app at the code host that this service has registered itself
 * (setup/app_registration.h), in the one row of the table `app`.
 *
 * What identifies the service at the code host are three groups of settings, and each group as a
 * whole is either that of the settings, where it is set, or that of this row; the secrets of the
 * webhook can be both, while the row's is replaced:
 *
 *     CODE_HOST_APP_ID, CODE_HOST_APP_KEY              app/app_jwt.h
 *     CODE_HOST_CLIENT_ID, CODE_HOST_CLIENT_SECRET     connection/oauth_client.h
 *     CODE_HOST_WEBHOOK_SECRETS                        webhook/webhook.h
 *
 * The row is read whenever it is used, and kept nowhere: what one replica stores the others use
 * with their next request, also where Redis is away. Every use of it is beside a call of the code
 * host, or beside a write, which cost far more. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>

/** What anybody may know of the app. */
struct registration {
	const char *app_id, *client_id, *slug, *html_url, *owner;
	bool is_webhook_active;
};

/** What only the code host and this service know. */
struct registration_secrets {
	const char *key; /* PEM */
	const char *client_secret;
	const char *webhook_secret; /* NULL: the app has no webhook */
};

/** The app that is registered; NULL: none is. Suspends. */
const struct registration *registration_get(struct request *rq);

/** As registration_get(), with its secrets, in an arena that is wiped when the request ends. Raises
 * ERR_CONFLICT: they cannot be read, because the row was changed or its key is missing from
 * SEAL_KEYS. */
const struct registration *registration_open(struct request *rq,
                                             struct registration_secrets *ret_secrets);

/** Store the app. What is remembered of another app's installations is forgotten; with
 * `ends_connections`, accounts have to connect to the code host again, whose tokens were another
 * app's. False: one is registered, and `replaces` is false. */
bool registration_store(struct request *rq, const struct registration *app,
                        const struct registration_secrets *secrets, bool replaces,
                        bool ends_connections);

/** Forget the app. False: none is registered. */
bool registration_delete(struct request *rq, bool ends_connections);
