/** The public operations of the code-host app. */
#pragma once

#include "app/code_host.h"

/** GET /github/app/install-url: where a user installs the app. */
void app_install_url_get(struct request *rq);

/** GET /github/app/installation?repo=: the installation that covers the repository. */
void app_installation_get(struct request *rq);

/** Its answer, once the access of the caller was checked. */
yyjson_mut_val *app_installation_json(struct request *rq, const struct repository_name *repo,
                                      yyjson_mut_doc *doc);

/** POST /github/installation-token: a token for the repository, with at least 55 minutes left. */
void app_token_create(struct request *rq);
