/** Asynchronous work: tasks, the jobs that run them, and events.
 *
 * Words used here:
 *   task    a row of the schema's `task` table: the API's asynchronous work, its state, its
 *           attempts and its result
 *   job     the code that runs one kind of task, in a fiber, at least once
 *   event   a fact that other services may want to know: a row of `outbox`, delivered at least once
 *   outbox  rows written in the transaction that changes state; a relay puts them on Redis Streams
 *
 * Postgres is the truth, Redis the transport. A task is queued by the SQL function task_start(), an
 * event by event_emit(), both part of the common migrations, both inside the caller's own
 * statement:
 *
 *     -- kind, account, input (jsonb)
 *     SELECT task_json(task_start('recommendations_refresh', $1, $2));
 *     -- stream, type, account, data (jsonb)
 *     SELECT event_emit('events.experiments', 'experiment.updated', $1, $2);
 *
 * The stream entry of a job is in `jobs.<service>`, with the fields `task` (id) and `kind`; that of
 * an event in `events.*`, with `id`, `type`, `account`, `at`, `data` (JSON) and `request_id`.
 */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stdint.h>

/** A task as its job sees it. */
struct task {
	const char *id; /* UUID text */
	const char *kind;
	const char *account; /* UUID text */
	yyjson_val *input;   /* an object */
	int attempt;         /* 1 for the first */
	int attempts_max;
};

/** Run a task. The request's identity is KEY_SERVICE for the task's account with every scope. On
 * return the task must have been completed with task_complete(); a raise is a failed attempt: tried
 * again with backoff and jitter unless the code is ERR_INVALID, ERR_NOT_FOUND, ERR_CONFLICT or
 * ERR_FORBIDDEN, which fail it at once. Idempotent. */
typedef void job_fn(struct request *rq, struct task *task);

struct job {
	const char *kind; /* NULL ends a table */
	job_fn *run;
	int attempts_max;    /* 0: 5 */
	uint64_t timeout_ms; /* of one attempt; 0: 300,000. The lease is renewed while it runs. */
};

/** Report progress, 0 to 100, and a message for people. Raises ERR_CONFLICT when another worker has
 * taken the task over. */
void task_progress(struct request *rq, struct task *task, int percent, const char *message);

/** Mark the task completed with `result_json`. To commit results and outcome at once, call it
 * between pg_begin() and pg_commit(). Raises ERR_CONFLICT when another worker has taken the task
 * over: nothing of this attempt may be kept. */
void task_complete(struct request *rq, struct task *task, const char *result_json,
                   const char *message);

/** What arrived on an events stream. */
struct event {
	const char *id; /* UUID text, the same however often it is delivered */
	const char *type;
	const char *account; /* UUID text; "" when none */
	int64_t at_ms;
	yyjson_val *data; /* an object */
};

/** Take note of an event. Delivered at least once: make the effect idempotent. A raise is a failed
 * delivery, tried again; after 10 the entry goes to `events.dead`. */
typedef void event_fn(struct request *rq, const struct event *event);

struct event_handler {
	const char *stream; /* NULL ends a table */
	const char *type;   /* NULL: every type of the stream */
	event_fn *run;
	bool is_broadcast; /* every worker process reads it for itself, from now on (no group): for
			      caches and replicas */
};

/** Whether the event's effect is not in this schema yet; notes that it is. Call it first in the
 * handler's transaction, where the effect itself is not idempotent. Ids are kept for seven days. */
bool event_is_new(struct request *rq, const struct event *event);

/** Register the metrics of all that follows; once, before threads. */
void tasks_register(void);

/** Work that a process does again and again, on its worker 0. */
struct recurring {
	const char *name;        /* NULL ends a table */
	request_fn *run;         /* a pass; a failed one is tried again with backoff */
	const int64_t *every_ms; /* the pause between two passes, give or take a fifth */
};

/** The asynchronous work of one process. */
struct tasks;

struct tasks_settings {
	const char *service;    /* `svc-interests`: names its streams and its consumer groups */
	const char *schema;     /* where the common tables are */
	const char *instance;   /* of this process: consumer of streams, owner of leases */
	const struct job *jobs; /* may be NULL */
	const struct event_handler *events; /* may be NULL */
	const struct recurring *recurring;  /* may be NULL */
	int job_slots;                      /* jobs at once */
	uint64_t
		lease_ms; /* how long the jobs of a process that died wait for another; 0: 30,000 */
	const _Atomic bool *is_migrated; /* work starts when it is true */
};

/** Start the relay, the job runner, the consumers and the reconciler on the process's worker 0, as
 * soon as the schema is migrated. Copies the settings, borrows what they point to.
 *
 * All of it shares that worker's loop and Postgres connections with the requests that it serves:
 * jobs and handlers wait much and compute little, and what takes the processor goes to
 * fiber_offload(). JOB_SLOTS jobs run at once in a process, of whatever kinds; events of one
 * stream are handled one after the other. More at once is more replicas, which share the work. */
struct tasks *tasks_start(struct worker *worker, const struct tasks_settings *settings);

/** Take no new work; `drained(context)` from the loop when what runs has ended, or `deadline_ms`
 * from now. */
void tasks_drain(struct tasks *tasks, uint64_t deadline_ms, void (*drained)(void *), void *context);

/** Free; require()s that no job runs any more. NULL is fine. The loop has to run on for libuv's
 * close callbacks. */
void tasks_free(struct tasks *tasks);
