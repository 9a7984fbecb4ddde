/** The public operations of the code-host app. */
#pragma once

#include "app/installation.h"

/** GET /github/app/installation?repo=: the installation that covers the repository, if that is the
 * caller's. */
void app_installation_get(struct request *rq);

/** Its answer; `found` NULL: the app is not installed there, or the repository is not the
 * caller's. */
yyjson_mut_val *app_installation_json(const struct repository_name *repo,
                                      const struct installation *found, yyjson_mut_doc *doc);

/** POST /github/installation-token: a token for the repository, with at least 55 minutes left. */
void app_token_create(struct request *rq);
