/** The JWT that the app authenticates with at the code host (RFC 7519, RS256).
 *
 * It begins a minute in the past, because clocks differ, and ends after nine minutes; the code host
 * accepts ten.
 *
 * The app is that of the settings or the registered one (registration/registration.h). */
#pragma once

#include "app/code_host.h"
#include "base/config.h"
#include "base/error.h"

#include <stdbool.h>

/** CODE_HOST_APP_ID, CODE_HOST_APP_KEY. */
extern const struct setting APP_JWT_SETTINGS[];

/** Read the app's private key. Once, after the settings are loaded. ERR_INVALID: it is no RSA key
 * in PEM, or one of the two settings lacks the other; printed on standard error. */
enum err_code app_jwt_init(void);

/** Whether the settings name the app; then the registered one is not used. */
bool app_is_of_settings(void);

/** Whether there is an app: its id and key are set, or one is registered. Suspends. */
bool app_is_configured(struct request *rq);

/** The app's id, or client id; NULL: there is no app. Suspends. */
const char *app_id_get(struct request *rq);

/** How to call the code host as the app: a new JWT, signed on the thread pool.
 * Suspends. Raises ERR_NOT_CONFIGURED: there is no app. */
struct code_host_auth app_auth(struct request *rq);
