/** Installing the app: the address for it, and whether the user who comes back has done so. */
#pragma once

#include "loop/request.h"

/** GET /github/app/install-url: where a user installs the app. */
void app_install_url_get(struct request *rq);

/** POST /github/app/installed: whether the installation that a browser came back with is one of the
 * account's. Its id can be forged, so the code host is asked with the account's own connection. */
void app_installation_confirm(struct request *rq);
