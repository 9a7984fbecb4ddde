/** Sets up the gateway: its settings, its public listener, and the parts that each worker owns (a
 * proxy, a key checker, and an upstream for each service). */
#pragma once

#include "base/config.h"
#include "http/server.h"
#include "loop/worker.h"

struct proxy;

/** How much longer than REQUEST_TIMEOUT, in which a service ends a request itself, the gateway
 * waits for the service's answer. */
#define ANSWER_GRACE_MS 5000

/** RATE_LIMIT, ACCOUNT_RATE_LIMIT, CONNECT_TIMEOUT, TRUSTED_PROXIES, CORS_ORIGINS, HTTPS_REDIRECT,
 * TLS_HANDSHAKE_RATE, PROXY_PROTOCOL. */
extern const struct setting EDGE_SETTINGS[];

/** Check the settings; for struct service. */
enum err_code edge_settings_check(void);

/** The public listener: every request goes through the proxy. */
extern const struct http_handler edge_handler;

/** Make and free process->user, a struct gateway_process. */
void edge_process_start(struct process *process);
void edge_process_stop(struct process *process);

/** The worker's proxy, for requests that the gateway makes itself. */
struct proxy *edge_proxy(const struct worker *worker);

/** Make and free worker->user. */
void edge_worker_start(struct worker *worker);
void edge_worker_stop(struct worker *worker);

/** Store what the worker has counted, when it has drained. */
void edge_worker_drained(struct worker *worker);
