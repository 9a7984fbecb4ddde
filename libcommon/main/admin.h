/** The handler of the admin listener: `/healthz` (the process is alive), `/readyz` (200 when it can
 * serve, otherwise 503 with the reasons), `/metrics` (Prometheus). It does not authenticate: the
 * listener belongs on the operator's network. */
#pragma once

#include "http/server.h"

extern const struct http_handler admin_handler;
