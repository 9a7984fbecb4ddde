/** The public listener of a service: matches operations of api.def and internal routes, believes
 * signed identities alone. */
#pragma once

#include "service/service.h"

#include <stdbool.h>

extern const struct http_handler http_service_handler;

/** Bind the service's routes to their operations; once, before threads. False after one line on
 * standard error for each operation of the service that has no route (and is not NOT_BUILT), and
 * each route that belongs to another service. */
bool http_service_bind(const struct service *service);

/** The handler bound to `op`; NULL when there is none. */
request_fn *http_service_route(const struct api_op *op);
