/** libcommon/service/: everything that a service shares with the other services: start-up, settings,
 * listeners, input checking, replies, problems, Idempotency-Key, ETag. A service declares itself in
 * one struct and implements handlers.
 *
 * How to write a service:
 *
 * 1. A line for each operation in libcommon/api.def, a line in deploy/processes, a folder with a
 *    meson.build, migrations and main.c:
 *
 *        static const struct route ROUTES[] = {
 *                {API_ID_run_create, run_create},
 *                {0},
 *        };
 *        static const struct service SERVICE = {
 *                .name = "svc-runs",
 *                .schema = "runs",
 *                .api = API_RUNS,
 *                .routes = ROUTES,
 *                .keeps_accounts = true,
 *                .migrations = MIGRATIONS, // generated: svc-runs-migrations.h
 *        };
 *        int main(int argc, char **argv) { return service_main(&SERVICE, argc, argv); }
 *
 * 2. A handler for each operation. It runs in a fiber: code that waits reads as if it blocked, and a
 *    failure is raised (loop/request.h), so a handler contains the normal case alone:
 *
 *        static void run_create(struct request *rq)
 *        {
 *                struct run_input *in = request_input(rq, struct run_input, RUN_FIELDS); // input.h
 *                struct pg_rows *rows = pg_query(rq, RUN_CREATE_SQL,                     // pg/pg.h
 *                                                pg_uuid(rq->caller.account),
 *                                                pg_text(in->experiment), pg_int(in->seeds));
 *                reply_one(rq, 201, rows, "no such experiment");                      // resource.h
 *        }
 *
 *    RUN_CREATE_SQL comes from run.sql, where the statement is named `-- name: run_create`. The
 *    statement compares account_id with the caller's account: every row belongs to an account, and a
 *    row of another account is answered as one that does not exist.
 *
 * 3. Jobs, events and recurring work, where needed: tables of task/task.h.
 *
 * Headers of this folder. For handlers: input.h (what a request carries), reply.h and resource.h
 * (what goes back), etag.h (If-Match). For main.c: this one and process.h (settings, state of the
 * process). Not for services: http_request.h (from an HTTP exchange to a handler), idempotency.h,
 * admin.h, field_check.h.
 *
 * State. What belongs to the process hangs on `process->user` and is created by `process_start`; what
 * belongs to one worker hangs on `worker->user` and is created by `worker_start`. Workers share
 * nothing else that changes.
 */
#pragma once

#include "base/config.h"
#include "http/api.h"
#include "loop/request.h"
#include "pg/migrate.h"
#include "service/process.h"
#include "task/task.h"

/** Binds a handler to an operation of api.def. The handler replies exactly once (reply.h) or
 * raises. The request has been authenticated, its scope checked, and its body read. */
struct route {
	enum api_id id;
	request_fn *handle; /* NULL ends a table */
};

/** A call that only other services may make (identity of kind KEY_SERVICE); 404 for everyone else:
 * `POST /internal/assets/lookup`. */
struct internal_route {
	const char *method; /* NULL ends a table */
	const char *path;   /* literal, starts with /internal/ */
	request_fn *handle;
	size_t body_max_bytes; /* 0: no body is read */
};

/** A subcommand: `svc-search import FILE`. It runs instead of the server, after the settings are
 * loaded; nothing else has been started. worker_command() (process.h) gives it a fiber with a
 * database. */
struct command {
	const char *name;  /* NULL ends a table */
	const char *usage; /* `import FILE` */
	const char *help;
	/** Returns the exit status; argv[0] is the command's name. */
	int (*run)(struct process *process, int argc, char **argv);
};

/** The declaration of a service. Members that a service does not use are NULL, except `name`,
 * `schema`, `routes` and `migrations`. Everything is borrowed for the life of the process. */
struct service {
	const char *name;   /* `svc-interests` */
	const char *schema; /* `interests`: the Postgres schema that it owns */
	enum api_service api;
	const struct route *routes;
	const struct internal_route *internal_routes;
	const struct job *jobs; /* task/task.h, as the next two */
	const struct event_handler *events;
	const struct recurring *recurring;
	/** The service stores rows of accounts: the event `account.deleted` runs the schema's
	 * account_forget() (pg/migrations/0005_account.sql). */
	bool keeps_accounts;
	const struct migration *migrations;    /* generated from migrations/ */
	const struct setting *const *settings; /* one table per module; NULL ends */
	/** Checks what the setting tables cannot express, after they are loaded. Prints one line on
	 * standard error for each bad variable and returns ERR_INVALID. */
	enum err_code (*settings_check)(void);
	const struct command *commands;
	/** Called once: after all workers are created and before their loops run; and after all
	 * loops have ended. */
	void (*process_start)(struct process *process);
	void (*process_stop)(struct process *process);
	/** Called on each worker's thread: before its loop runs; and at the end, while the loop
	 * still runs. */
	void (*worker_start)(struct worker *worker);
	void (*worker_stop)(struct worker *worker);
	/** Why the service is not ready, a short text for /readyz; NULL: it is ready. Called from
	 * any thread. */
	const char *(*unready)(struct process *process);
	/** Handles the public listener in place of http_service_handler (http_request.h): the
	 * gateway's proxy. */
	const struct http_handler *public_handler;
};

/** The whole of main(). Reads the settings; runs the command that argv[1] names, or else serves: it
 * starts the workers, the public listener and the admin listener (`/healthz`, `/readyz`,
 * `/metrics`), migrates the schema in the background until that succeeds, and drains on SIGTERM.
 *
 * Returns the exit status. It is 2, after one line on standard error for each fault, when a setting
 * is wrong, when an operation of the service in api.def that is not marked NOT_BUILT has no route,
 * or when a route's operation belongs to another service. */
int service_main(const struct service *service, int argc, char **argv);
