/** The listener of a service: finds the operation of a request and its handler, and authenticates
 * the sender. What follows is in http_request.h. */
#pragma once

#include "http/api.h"
#include "http/server.h"
#include "loop/request.h"

#include <stdbool.h>

struct service;

/** The handler of a service's public listener. It matches operations of api.def and internal
 * routes, and takes identities only from the signed header that the gateway and the services
 * send. */
extern const struct http_handler http_service_handler;

/** Bind the service's routes to their operations, public and internal; once, before threads. False
 * after one line on standard error for each operation of the service that has no route (and is not
 * GONE), and each route that belongs to another service. */
bool http_service_bind(const struct service *service);

/** The handler bound to `op`; NULL when there is none. */
request_fn *http_service_route(const struct api_op *op);
