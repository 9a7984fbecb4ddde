/** A process of the cluster, declared: its name, routes, jobs, events, settings, migrations and
 * commands.
 *
 *     int main(int argc, char **argv) { return service_main(&svc_interests, argc, argv); }
 *
 * service_main() reads the settings, runs a command when one is named, else serves: workers, public
 * listener, admin listener (`/healthz`, `/readyz`, `/metrics`), migrations in the background until
 * they succeed, SIGTERM drains. It refuses to start when an operation of the service in api.def
 * that is not marked NOT_BUILT has no route, or a route's operation is another service's.
 */
#pragma once

#include "base/config.h"
#include "http/api.h"
#include "loop/request.h"
#include "pg/migrate.h"
#include "service/process.h"
#include "task/task.h"

/** Binds a handler to an operation of api.def. */
struct route {
	enum api_id id;
	request_fn *handle;
};

/** A call that only other services may make (identity of kind service): `POST
 * /internal/assets/lookup`. */
struct internal_route {
	const char *method; /* NULL ends a table */
	const char *path;   /* literal, starts with /internal/ */
	request_fn *handle;
	size_t body_max_bytes;
};

/** `svc-search import FILE`: runs instead of serving, with settings loaded and nothing else
 * started. */
struct command {
	const char *name;  /* NULL ends a table */
	const char *usage; /* `import FILE` */
	const char *help;
	/** Returns the exit status; argv[0] is the command's name. */
	int (*run)(struct process *process, int argc, char **argv);
};

struct service {
	const char *name;   /* `svc-interests` */
	const char *schema; /* `interests` */
	enum api_service api;
	const struct route *routes;                   /* ends with handle NULL */
	const struct internal_route *internal_routes; /* may be NULL, as all below */
	const struct job *jobs;
	const struct event_handler *events;
	const struct recurring *recurring;
	/** It keeps what belongs to accounts: `account.deleted` runs the schema's
	 * account_forget() (pg/migrations/0005_account.sql). */
	bool keeps_accounts;
	const struct migration *migrations;
	const struct setting *const *settings; /* tables, each with its module; NULL ends */
	/** What the table cannot check, once they are loaded. ERR_INVALID: after one line on
	 * standard error for each bad variable. */
	enum err_code (*settings_check)(void);
	const struct command *commands;
	/** Once, before the workers' loops run and after all are made; and after all have ended. */
	void (*process_start)(struct process *process);
	void (*process_stop)(struct process *process);
	/** On each worker's thread before its loop runs, and while it still runs at the end. */
	void (*worker_start)(struct worker *worker);
	void (*worker_stop)(struct worker *worker);
	/** Not ready for a reason of its own; NULL text: ready. For /readyz. Any thread. */
	const char *(*unready)(struct process *process);
	/** The public listener's handler instead of the service's request layer: the gateway's
	 * proxy. */
	const struct http_handler *public_handler;
};

int service_main(const struct service *service, int argc, char **argv);
