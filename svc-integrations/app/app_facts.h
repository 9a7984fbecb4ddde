/** What the code host says of the app (`GET /app`): asked at most once a minute by all replicas
 * together, save those that ask at the same moment. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

struct app_facts {
	const char *slug, *html_url; /* https://github.com/apps/expops */
	const char *owner;           /* NULL: not given */
	yyjson_val *permissions;     /* {"contents": "write"} */
	yyjson_val *events;          /* ["push"] */
};

/** Raises ERR_NOT_CONFIGURED: there is no app; ERR_UPSTREAM: the code host refuses it. Suspends. */
struct app_facts app_facts_get(struct request *rq);

/** Where a user installs the app; the code host leads back with the state. In the arena. */
const char *app_install_address(struct request *rq, const char *html_url, const char *state);
