/** The public operations of the code-host app. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** GET /github/app/install-url: where a user installs the app. */
void app_install_url_get(struct request *rq);

/** GET /github/app/installation?repo=: the installation that covers the repository. */
void app_installation_get(struct request *rq);

/** POST /github/installation-token: a token for the repository, with at least 55 minutes left. */
void app_token_create(struct request *rq);
