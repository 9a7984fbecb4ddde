/** HTTPS_REDIRECT: a request that did not come by HTTPS is sent to the same target at PUBLIC_URL.
 * The probes of load balancers are served as they come. */
#pragma once

#include "http/server.h"

/** The Location for the request; NULL: it is served. `origin` is `https://expops.example.org`, or
 * NULL without HTTPS_REDIRECT. The exchange has the client's scheme. In its arena. */
const char *https_location(const char *origin, const struct http_exchange *x);
