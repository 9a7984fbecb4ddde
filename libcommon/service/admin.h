/** The admin listener of a process: `/healthz` (alive), `/readyz` (200 when it can do its work,
 * else 503 with the reasons), `/metrics` (Prometheus). For the operator's network; it asks for no
 * key. */
#pragma once

#include "http/server.h"

extern const struct http_handler admin_handler;
