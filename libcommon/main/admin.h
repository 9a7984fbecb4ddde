/** The handler of the admin listener: `/healthz` (the process is alive), `/readyz` (200 when it can
 * serve, otherwise 503 with the reasons), `/metrics` (Prometheus). It does not authenticate: the
 * listener belongs on the operator's network. */
#pragma once

#include "http/server.h"

struct worker;

extern const struct http_handler admin_handler;

/** Whether the replica can serve, as /readyz says. Called on the worker's thread. */
bool worker_is_ready(struct worker *worker);
