/** What one worker of the gateway holds: the proxy, the keys that it knows, and its connections to
 * the services. */
#pragma once

#include "base/config.h"
#include "http/server.h"
#include "loop/worker.h"

/** RATE_LIMIT, TRUSTED_PROXIES. */
extern const struct setting EDGE_SETTINGS[];

/** As struct service's. */
enum err_code edge_settings_check(void);

/** The public listener: everything goes through the proxy. */
extern const struct http_handler edge_handler;

/** What the workers share, as process->user. */
void edge_process_start(struct process *process);
void edge_process_stop(struct process *process);

/** Each worker's own, as worker->user. */
void edge_worker_start(struct worker *worker);
void edge_worker_stop(struct worker *worker);
