/** libcommon/service/: what a service declares, in one struct (struct service), and what its
 * process has. It implements handlers; service_main() (main/service_main.h) is the rest of the
 * program.
 *
 * libcommon/README.md says how to add an operation and a service, with an example.
 *
 * Rules for handlers:
 * - A handler runs in a fiber (loop/request.h). Code that waits is written as if it blocked. A
 *   failure is raised: the handler ends, and the request is answered with a problem. So a handler
 *   contains only the normal case.
 * - Every row belongs to an account, and every statement compares account_id with
 *   `rq->caller.account`. A row of another account is answered 404, as if it did not exist.
 * - Memory comes from `rq->arena` and is freed with the request.
 * - A handler that waits for outside services does so before it opens a transaction. A POST that
 *   takes Idempotency-Key is then marked CALLS_OUT (api.def). A transaction that its handler leaves
 *   open is committed together with the answer.
 *
 * Where to look:
 * - input/input.h: path, query and body of a request. input/field_check.h: checking JSON that is
 *   not a request body against an input table. input/key_limit.h: keys that are limited to a
 *   repository or an interest.
 * - reply/reply.h and reply/resource.h: the reply. reply/etag.h: If-Match and If-None-Match.
 * - pg/pg.h: statements and transactions. client/service_call.h: calls to other services.
 * - task/task.h: jobs (work after a 202), events between services, and recurring work.
 * - process.h: settings that every process has. main/command_run.h: running a command with a
 *   database.
 * - pg/migrations/ and the files *.fn.sql: tables and SQL functions that every schema has, such as
 *   task_start() and the triggers on tables with rows of accounts (service/account.fn.sql).
 * - Not for handlers: request/http_request.h (from an HTTP exchange to a handler; also used by the
 *   gateway), request/idempotency.h, main/admin.h.
 *
 * State: `process->user` holds what belongs to the process, created by `process_start`;
 * `worker->user` holds what belongs to one worker, created by `worker_start`. Each is one struct of
 * the service. Workers share nothing else that changes. Jobs and event handlers run on a worker of
 * their own, where `worker->user` is what `background_start` has set.
 */
#pragma once

#include "base/config.h"
#include "http/api.h"
#include "http/internal_api.h"
#include "loop/request.h"
#include "pg/migrate.h"
#include "service/process.h"
#include "service/retained_table.h"
#include "task/task.h"
#include "tls/settings.h"

/** Binds a handler to an operation of api.def. The handler replies exactly once (reply.h) or
 * raises. The request has been authenticated, its scope checked, and its body read. */
struct route {
	enum api_id id;
	request_fn *handle; /* NULL ends a table */
};

/** Binds a handler to an operation of internal.def, `POST /internal/assets/lookup`, which only the
 * services that are listed there may use; others get 404. */
struct internal_route {
	enum internal_id id;
	request_fn *handle; /* NULL ends a table */
};

/** A subcommand: `svc-search import FILE`. It runs instead of the server, after the settings are
 * loaded; nothing else has been started. command_run() (main/command_run.h) gives it a fiber with a
 * database. */
struct command {
	const char *name;  /* NULL ends a table */
	const char *usage; /* `import FILE` */
	const char *help;
	/** Returns the exit status; argv[0] is the command's name. After COMMAND_USAGE
	 * (main/command_run.h) the usage is printed, and the exit status is 2. */
	int (*run)(struct process *process, int argc, char **argv);
	/** Of a program that uses the public interface from outside: it has these settings and
	 * LOG_LEVEL, and no others, and outside_run() (main/command_run.h) gives it a fiber. NULL:
	 * the command has the settings of the service. */
	const struct setting *const *settings;
};

/** The declaration of a service. Members that a service does not use are NULL, except `name`,
 * `schema`, `schema_definition` and `routes`. Everything is borrowed for the life of the process.
 */
struct service {
	const char *name;   /* `svc-interests` */
	const char *schema; /* `interests`: the Postgres schema that it owns */
	enum api_service api;
	const struct route *routes;
	const struct internal_route *internal_routes;
	const struct job *jobs; /* task/task.h, as the next two */
	const struct event_handler *events;
	const struct recurring *recurring;
	/** The service stores rows of accounts: the event `account.deleted` runs the SQL function
	 * account_forget(), which the service defines and which deletes the rows of the account
	 * (see service/account.fn.sql). */
	bool keeps_accounts;
	const struct retained_table *tables;    /* those of its own; service/retained_table.h */
	const struct schema *schema_definition; /* generated from migrations/ and *.fn.sql */
	const struct setting *const *settings;  /* one table per module; NULL ends */
	/* Its LISTEN may have https:// addresses, and TLS_SETTINGS is among its settings; NULL: it
	 * may not. */
	const struct tls_settings *tls;
	/** Checks what the setting tables cannot express, after they are loaded. Prints one line on
	 * standard error for each bad variable and returns ERR_INVALID. */
	enum err_code (*settings_check)(void);
	const struct command *commands;
	/** Called once: after all workers are created and before their loops run; and after all
	 * loops have ended. */
	void (*process_start)(struct process *process);
	void (*process_stop)(struct process *process);
	/** Called on the thread of each worker for requests: before its loop runs; and at the end,
	 * while the loop still runs. */
	void (*worker_start)(struct worker *worker);
	void (*worker_stop)(struct worker *worker);
	/** Between the two, when the worker has drained: a request that is begun here has ten
	 * seconds to end. */
	void (*worker_drained)(struct worker *worker);
	/** The same for the background worker, which in the role `jobs` also runs jobs, event
	 * handlers and recurring work: for what the process repeats by itself and no request should
	 * wait for. Called in every role (process->roles), unless `background_is_for_jobs`: then
	 * only in the role `jobs`, and the others have no background worker for it. */
	void (*background_start)(struct worker *worker);
	bool background_is_for_jobs;
	/** At the drain: begin no further work, and call `drained(context)` when none runs, at the
	 * latest `timeout_ms` from now; perhaps at once. */
	void (*background_drain)(struct worker *worker, uint64_t timeout_ms,
	                         void (*drained)(void *context), void *context);
	bool listens; /* background_start calls pg_listen(), which needs a connection */
	void (*background_stop)(struct worker *worker);
	/** Why the service is not ready, a short text for /readyz; NULL: it is ready. Called from
	 * any thread. */
	const char *(*not_ready_reason)(struct process *process);
	/** Handles the public listener in place of http_service_handler
	 * (request/http_service.h): the gateway's proxy. */
	const struct http_handler *public_handler;
};
