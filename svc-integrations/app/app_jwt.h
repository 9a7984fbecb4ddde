/** The JWT that the app authenticates with at the code host (RFC 7519, RS256).
 *
 * It begins a minute in the past, because clocks differ, and ends after nine minutes; the code host
 * accepts ten. */
#pragma once

#include "app/code_host.h"
#include "base/config.h"
#include "base/error.h"

#include <stdbool.h>

/** CODE_HOST_APP_ID, CODE_HOST_APP_KEY. */
extern const struct setting APP_JWT_SETTINGS[];

/** Read the app's private key. Once, after the settings are loaded. ERR_INVALID: it is no RSA key
 * in PEM; printed on standard error. */
enum err_code app_jwt_init(void);

/** Whether the app's id and key are set. */
bool app_is_configured(void);

/** How to call the code host as the app: a new JWT, signed on the thread pool.
 * Suspends. Raises ERR_NOT_CONFIGURED: the app's id or key is not set. */
struct code_host_auth app_auth(struct request *rq);
