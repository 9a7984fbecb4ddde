/** libcommon/task/: asynchronous work: tasks, the jobs that run them, events and recurring work.
 *
 * A service lists its jobs, event handlers and recurring work in struct tasks_settings;
 * tasks_start() runs them in each process. Jobs call task_progress() and task_complete(). tasks.h
 * describes the internal files.
 *
 * The life of a job and of an event, with the file of each step:
 *
 *     enqueue   task_start(), task_put(): a row of `task`            task.fn.sql
 *        v
 *      wake     after the commit: a message to one free process      wake.c
 *        v
 *      claim    the row, in fair turns among accounts, by a lease    job_claim.c, task.fn.sql
 *        v
 *       run     in a fiber -- failed: queued again with backoff      job_run.c
 *        v
 *    complete   the result and the job's last write, one commit      job_run.c
 *
 *     recover   what is due again, or whose process has stopped      reconcile.c
 *
 *
 *      write    event_emit(), event_send(): a row of `outbox`        event.fn.sql
 *        v
 *      relay    rows -> entries of a Redis stream, by one process    outbox.c
 *        v
 *      read     entries after the position -> event handlers         events.c, event_delivery.c
 *        v
 *      retry    what failed, apart; what a reader misses, once more  event_parking.c, stream_trim.c
 *
 *    give up    a dead letter, until an operator has it tried again  dead.c
 *
 * Words used here:
 *   task    a row of the schema's `task` table: one piece of the API's asynchronous work, with its
 *           state, attempts and result
 *   job     the function that runs the tasks of one kind, in a fiber, at least once for each
 *   lease   the right of one process to run a task, for a limited time; renewed while the job runs
 *   event   something that happened, for other services: a row of `outbox`, delivered at least once
 *   outbox  a table of entries to send, written in the same transaction as the change of state
 *   dead letter  a task that has failed by no mistake of its caller, or an event that was given up
 *           (dead.h)
 *   relay   the part that sends the rows of the outbox to Redis Streams
 *
 * Postgres holds the state; Redis only transports, and may lose everything. The SQL function
 * task_start() queues a task and event_emit() an event. Both are part of the common migrations and
 * are called inside the caller's own statement:
 *
 *     -- kind, account, input (jsonb)
 *     SELECT task_json(task_start('recommendations_refresh', :account, :input));
 *     -- stream, type, account, data (jsonb)
 *     SELECT event_emit('events.experiments', 'experiment.updated', :account, :data);
 *     -- id, stream, type, lane, account, data
 *     SELECT event_send(:event, 'events.code_host', 'pull_request', 'acme/ranker', NULL, :data);
 *
 * task_start() returns the equal task (account, kind and input) if one still waits for its first
 * attempt, and violates the constraint task_pending_max when too many tasks of the account wait
 * (CONSTRAINT_TASK_PENDING_MAX in reply/resource.h). What other transactions have not committed
 * is not counted (task_insert() in task.fn.sql). Background work, which must not stop at the bound
 * of one account, calls task_put(); its tasks count too.
 *
 * A task that is started while an equal one runs may run beside it and end first. A job that stores
 * what it computes of what it has read must leave alone what was stored meanwhile of newer rows.
 *
 * Accounts share the workers: whichever process has a free slot claims the task of the account with
 * the fewest running tasks, then the one whose turn it is (task_turn() in task.fn.sql). One
 * account's thousand tasks delay another account's first by the end of one job.
 *
 * A committed task is announced to one process by an entry of the stream `jobs.<service>` (wake.h);
 * when that process finds more than it has free slots for, it adds an entry for the next. An
 * event's entry is in a stream `events.*` and has the fields `id`, `type`, `account`, `at`, `data`
 * (JSON), `request_id` and `lane`.
 *
 * Events of one lane are handled in their order, and one that fails delays only those behind it in
 * its lane. The lane is the account. An event that concerns no single account, such as one about a
 * repository, gets a lane from its writer by event_send(), which also chooses its id: an id that is
 * derived from what the event says makes one event of a fact that the writer hears of twice. The
 * handler of such an event finds the accounts that it concerns in its own rows. What it does for
 * one of them must not fail for another: where it can, it starts a task for each by task_put().
 */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stdint.h>

/** The task that a job runs. */
struct task {
	const char *id; /* UUID text */
	const char *kind;
	const char *account; /* UUID text */
	yyjson_val *input;   /* an object */
	int attempt;         /* 1 for the first */
	int attempts_max;
};

struct pg_call;

/** Run a task. The request's identity is KEY_SERVICE for the task's account, with every scope. Must
 * call task_complete() before it returns. A raise is a failed attempt, which is retried with
 * backoff and jitter:
 *   what err_is_final()  fails the task at once; where the job acts_for_caller, the mistake is the
 *     caller's, who reads it in the task, and no dead letter, but for ERR_NOT_CONFIGURED;
 *   what err_is_transient(), and ERR_TIMEOUT before the job's own timeout_ms  interrupts the
 *     attempt. Such attempts do not count, and the task fails only when one is interrupted a day
 *     after the first began. The next one waits as long as retry_after_s of the problem says, an
 *     hour at most;
 *   any other, also the death of the process: the task fails after attempts_max of them, which
 *     after ERR_UPSTREAM are some minutes apart.
 * Must be idempotent. */
typedef void job_fn(struct request *rq, struct task *task);

struct job {
	const char *kind; /* NULL ends a table */
	job_fn *run;
	bool is_long;         /* such jobs never take all slots of a process (job_claim.h) */
	bool acts_for_caller; /* what is wrong with what they asked for is no dead letter */
	int attempts_max;     /* that were not interrupted; 0: 5 */
	uint64_t timeout_ms;  /* of one attempt; 0: 300,000. The lease is renewed while it runs. */
};

/** Report progress, 0 to 100, and a message for people. Raises ERR_CONFLICT when another worker has
 * taken the task over. */
void task_progress(struct request *rq, struct task *task, int percent, const char *message);

/** Mark the task completed with `result_json`. To commit results and outcome at once, call it
 * between pg_begin() and pg_commit(). Raises ERR_CONFLICT when another worker has taken the task
 * over: nothing of this attempt may be kept. */
void task_complete(struct request *rq, struct task *task, const char *result_json,
                   const char *message);

/** Run one statement and mark the task completed, both or neither, where one statement is all that
 * is to commit with the outcome:
 *
 *     task_complete_after(rq, task, "{}", NULL, &PG_CALL(REVOCATION_DELETE_SQL, pg_text(connection)));
 *
 * It costs a fraction of a transaction, which tasks that end at about the same time share
 * (pg/batch.h). So the statement should keep no lock that others wait for, and its time is that of
 * the transaction. Its rows are dropped. Raises as pg_query() and task_complete(), ERR_CONTENTION
 * when it has waited for a lock of a row for a second, and ERR_TIMEOUT when it has taken two.
 * request_id_now() is null in it. */
void task_complete_after(struct request *rq, struct task *task, const char *result_json,
                         const char *message, const struct pg_call *last_write);

struct event_stream;

/** An entry of an event stream. */
struct event {
	const char *id; /* UUID text, the same in every delivery */
	const char *type;
	const char *account; /* UUID text; "": no single one */
	int64_t at_ms;
	yyjson_val *data; /* an object */
};

/** Handle an event. Must be idempotent (events.h says when an event comes twice). The events of an
 * account, or of another lane, arrive one after the other, in their order. A raise is a failed
 * delivery:
 *   what err_is_final()  the event goes to `events.dead.<service>` at once;
 *   what err_is_transient()  it is tried again without limit;
 *   any other  it goes to `events.dead.<service>` after ten.
 * Until then later events of the same lane wait behind it, and those of other lanes go on. */
typedef void event_fn(struct request *rq, const struct event *event);

struct event_handler {
	const char *stream; /* NULL ends a table */
	const char *type;   /* NULL: every type of the stream */
	event_fn *run;
	uint64_t timeout_ms; /* of each try but the first, which has 5,000; 0: 60,000 */
};

/** A text in the event's data that events of its type always have. Raises ERR_INVALID: it has
 * none. */
const char *event_require_text(struct request *rq, const struct event *event, const char *name);

/** Work that a process repeats, on its background worker, and also does at SIGHUP. */
struct recurring {
	const char *name;        /* NULL ends a table */
	request_fn *run;         /* one pass; a failed one is retried with backoff */
	const int64_t *every_ms; /* the pause between two passes, plus or minus a fifth */
};

/** The asynchronous work of one process. */
struct tasks;

struct job_wake;

struct tasks_settings {
	const char *service;  /* `svc-interests`: part of the names of its streams and groups */
	const char *instance; /* name of this process as consumer of streams and owner of leases */
	const struct job *jobs;             /* may be NULL */
	const struct event_handler *events; /* may be NULL */
	const struct event_stream *streams; /* NULL: those of the product (event_streams.h) */
	const struct recurring *recurring;  /* may be NULL */
	int job_slots;                      /* jobs at once */
	int retention_days;                 /* for which ended tasks are kept; 0: always */
	int pending_max;   /* tasks of an account that wait for their first attempt; 0: unchanged */
	uint64_t lease_ms; /* how long a claim of a task lasts without renewal; 0: 30,000 */
	struct job_wake *wake;           /* of the process (wake.h) */
	const _Atomic bool *is_migrated; /* work starts once it is true */
};

/** Start the relay, the job runner, the event consumers, the reconciler and the recurring work on
 * `worker`, the background worker of the process, once the schema is migrated. Copies the settings,
 * borrows what they point to.
 *
 * All of it shares that worker's loop and Postgres connections, so jobs and handlers must not
 * compute for long: fiber_offload() runs a computation on another thread. A process runs job_slots
 * jobs at once, of any kinds. It handles the events of one lane one after the other, and some lanes
 * of a stream at once. Replicas share the work. */
struct tasks *tasks_start(struct worker *worker, const struct tasks_settings *settings);

/** Do the recurring work now, once the schema is migrated. NULL is fine. */
void tasks_recur(struct tasks *tasks);

/** Take no new work. The loop calls `drained(context)` when all running jobs and handlers have
 * ended, at the latest `deadline_ms` from now. */
void tasks_drain(struct tasks *tasks, uint64_t deadline_ms, void (*drained)(void *), void *context);

/** After the drain, once no request of the worker runs: start one that gives up the leases which
 * this process holds for the relay and the consumers (pg/lease.h), so that the other processes
 * continue their work at once. It ends within two seconds, perhaps before this function returns.
 * NULL is fine. */
void tasks_give_up_leases(struct tasks *tasks);

/** Free; require()s that no job runs. NULL is fine. The loop must still run libuv's close
 * callbacks. */
void tasks_free(struct tasks *tasks);
