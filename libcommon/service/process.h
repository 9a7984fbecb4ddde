/** A process of the cluster: what its threads share, and the settings that have one meaning in every
 * process. */
#pragma once

#include "base/config.h"
#include "base/identity.h"
#include "client/service_call.h"
#include "http/api.h"
#include "loop/worker.h"

#include <stdbool.h>
#include <stdint.h>

struct service;

/** Settings with one meaning in every process; process_settings.c has units and defaults. */
struct process_settings {
	const char *listen, *admin_listen;
	const char *database_url, *redis_url;
	const char *identity_secret;
	const char *log_level;
	int64_t workers;         /* 0: the number of cores */
	int64_t pg_pool_size;    /* connections per worker */
	int64_t pg_pool_wait_ms; /* how long a statement waits for one of them; 0: the default */
	int64_t job_slots;       /* jobs at once, per process */
	int64_t job_lease_ms; /* how long a dead process's jobs wait for another; 0: the default */
	int64_t request_timeout_ms;
	int64_t drain_timeout_ms;
	int64_t head_max_bytes, head_timeout_ms, body_timeout_ms, idle_timeout_ms;
	int64_t body_memory_bytes; /* of all requests' bodies together, per process */
	const char *service_url[API_SERVICE_COUNT]; /* where the others are; "": not deployed */
};

/** What the threads of a process share; set before they start. */
struct process {
	const struct service *service;
	const struct process_settings *settings;
	struct identity_signer *signer;
	struct peers peers; /* the other services */
	const char
		*instance; /* of this run of the process alone: consumer of streams, lease owner */
	int worker_count;
	struct worker *workers;
	_Atomic bool is_migrated;  /* the schema is as this build needs it */
	_Atomic bool is_listening; /* worker 0 takes requests */
	_Atomic bool is_draining;
	void *user; /* the service's own, set by its process_start */
};

extern struct process_settings process_settings;
extern const struct setting PROCESS_SETTINGS[];

/** Fill process_settings and check what a table cannot: addresses, URLs and the secret.
 * ERR_INVALID: after one line on standard error for each bad or missing variable. */
enum err_code process_settings_load(void);
