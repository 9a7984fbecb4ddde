/** A process of the cluster: the state that its threads share, and the settings that every process
 * has. main/worker_run.h runs its workers. */
#pragma once

#include "base/config.h"
#include "client/service_call.h"
#include "crypto/identity.h"
#include "http/api.h"
#include "loop/request.h"
#include "loop/worker.h"
#include "service/roles.h"

#include <stdbool.h>
#include <stdint.h>

struct service;
struct tls_store;
struct tls_trust;

/** The settings that every process has. Variables, defaults and ranges: PROCESS_SETTINGS in
 * process.c. */
struct process_settings {
	const char *roles;  /* roles.h */
	const char *listen; /* listen_addresses_parse() */
	const char *admin_listen;
	const char *database_url, *redis_url;
	/* tls/trust.h */
	const char *redis_ca_file, *redis_certificate_file, *redis_key_file;
	const char *database_direct_url;           /* past a pooler; "": as database_url */
	const char *sign_secrets, *verify_secrets; /* client/peers.h */
	const char *seal_secrets;                  /* idempotency.h */
	bool compresses_answers;                   /* the same */
	const char *public_url; /* of the gateway, without a slash at its end; "": not set */
	const char *fetch_allow;
	const char *log_level;
	int64_t workers;           /* event loops; 0: one per usable processor */
	int64_t pg_connections;    /* of the process; 0: the default (connections.h) */
	bool pg_prepare;           /* use prepared statements */
	int64_t slow_ms;           /* of a statement that is logged; 0: none is */
	int64_t pg_pool_wait_ms;   /* how long a statement waits for a connection; 0: the default */
	int64_t job_slots;         /* jobs at once, per process */
	int64_t tasks_pending_max; /* tasks of an account that wait for their first attempt */
	int64_t task_retention_days; /* for which ended tasks are kept */
	int64_t job_lease_ms; /* after which the jobs of a dead process are taken over; 0: the
				    default */
	int64_t request_timeout_ms;
	int64_t drain_delay_ms, drain_delay_max_ms, drain_timeout_ms;
	int64_t head_max_bytes, head_memory_bytes, head_timeout_ms, idle_timeout_ms;
	int64_t body_pause_ms, body_timeout_ms, body_rate_min_bytes;
	int64_t connections_max; /* of clients; 0: derived from the limit of open files */
	int64_t body_memory_bytes, answer_memory_bytes, fetch_memory_bytes; /* per process */
	const char *service_url[API_SERVICE_COUNT]; /* the other services; "": not deployed */
};

/** What the threads of a process share. Set before they start; only the atomic members change
 * afterwards. */
struct process {
	const struct service *service;
	const struct process_settings *settings;
	struct roles roles;
	struct peers peers;            /* the other processes */
	struct tls_store *tls;         /* NULL: no address of LISTEN is served by TLS */
	struct tls_trust *redis_trust; /* NULL: Redis without TLS */
	/* `host-pid-random`, unique to this run: names its stream consumers and owns its leases */
	const char *instance;
	/* Those for requests, and after them the one for background work (background.h). The first
	 * of them runs on the main thread. */
	struct worker *workers;
	int worker_count;    /* for requests; 0 without the role */
	bool has_background; /* it has background work: the role, or the service's own */
	/* To Postgres at most: of each worker for requests, and of the background worker. */
	int worker_connections, background_connections;
	struct job_wake *job_wake; /* from all workers to the background worker (task/wake.h) */
	_Atomic int workers_running;
	_Atomic bool is_migrated;  /* all migrations of this build have been applied */
	_Atomic bool is_listening; /* the first worker accepts public connections */
	_Atomic bool is_stopping;  /* SIGTERM or SIGINT was received */
	_Atomic bool is_draining;  /* and the time in which connections are accepted is over */
	/* and all workers were woken for it; before that none may close */
	_Atomic bool is_drain_announced;
	void *user; /* the service's own state, set by its process_start */
};

extern struct process_settings process_settings;
extern const struct setting PROCESS_SETTINGS[];

/** Those that a program outside of the cluster has too (struct command). */
extern const struct setting OUTSIDE_SETTINGS[];

/** Event loops of a serving process. */
static inline int process_loops(const struct process *process)
{
	return process->worker_count + process->has_background;
}

/** Whether it runs background work, and no requests of clients. */
static inline bool worker_is_background(const struct worker *worker)
{
	return worker->index == worker->process->worker_count;
}

/** Whether an address of LISTEN is served by TLS, or all are. */
bool process_listens_by_tls(const struct process_settings *settings);
bool process_listens_by_tls_only(const struct process_settings *settings);

/** The URL for what needs a session of its own: LISTEN, migrations. */
const char *process_direct_url(const struct process_settings *settings);

/** Read REDIS_CA_FILE, REDIS_CERT_FILE and REDIS_KEY_FILE if REDIS_URL asks for TLS; else
 * *ret_trust is NULL. ERR_INVALID, after a line on standard error: they cannot be used. */
enum err_code process_trust_redis(const struct process_settings *settings,
                                  struct tls_trust **ret_trust);

/** Fill process_settings from the environment and check addresses, URLs and the secret.
 * ERR_INVALID: a variable is missing or wrong; the reasons were printed on standard error. */
enum err_code process_settings_load(void);
