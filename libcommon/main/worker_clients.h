/** The clients of a worker: Postgres, Redis, HTTP to outside hosts and to services, and what its
 * requests need besides. */
#pragma once

#include "loop/worker.h"

/** Make all of them on the worker's loop, by the settings of its process. */
void worker_clients_make(struct worker *worker);

/** Make those of a command that uses the public interface from outside: HTTP alone. */
void worker_clients_make_outside(struct worker *worker);

/** Free those that were made. The loop has to run on for libuv's callbacks. */
void worker_clients_free(struct worker *worker);
