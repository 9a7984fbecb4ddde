/** Whether the caller may act on a repository at the code host. */
#pragma once

#include "app/code_host.h"

/** Return when the caller may act on `repo`: with an automation key that provisioning made for it, or when
 * the account's code-host connection can push to it, which is asked of the code host and remembered for five
 * minutes. Raises ERR_NOT_FOUND otherwise, also when the app is installed there. Suspends. */
void access_require(struct request *rq, const struct repository_name *repo);
