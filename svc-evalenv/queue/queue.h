/** svc-evalenv/queue/: builds and runs wait for workers, outside programs that claim them.
 *
 *     queue.c    claims, heartbeats, cancelling, and the end of leases
 *     wakeup.c   waking the claims that wait
 *
 * Words used here:
 *   work      a build or a run
 *   worker    an outside program with a key that has `eval:report`. It gets the work of its
 *             account; with `service:any_user`, that of all accounts, next of the one of which
 *             workers have the fewest, then by turn
 *   attempt   a number, one more with each claim of the same work. A worker names it in everything
 *             that it reports of the work
 *   lease     until when the work is the worker's. Each heartbeat extends it; the first one is due
 *             soon, since nobody knows whether the answer to a claim has arrived. When it ends, the
 *             work is queued again, and what the worker reports after that is refused. Leases begin
 *             anew when the service or Postgres was away
 *   release   a worker that stops gives its work back: it is queued again at once, and the attempt
 *             is not counted
 *
 * The rules are functions of the schema (queue.fn.sql), so that each step is one transaction with
 * the row locked: a worker, a replica or a connection may vanish between any two. */
#pragma once

#include "base/config.h"
#include "input/input.h"
#include "pg/pg.h"
#include "reply/resource.h"

/** WORK_LEASE, WORK_FIRST_LEASE, WORK_ATTEMPTS, WORK_WAITING_MAX, WORK_SHARED_MAX,
 * BUILD_TIMEOUT. */
extern const struct setting QUEUE_SETTINGS[];

/** Seconds that a build may take. */
int64_t build_timeout_s(void);

/** Builds, and runs, of an account that may wait for workers, for a statement. */
struct pg_param queue_waiting_max(struct request *rq);

/** One kind of work. */
struct queue {
	const char *kind;    /* `build` */
	const char *missing; /* the detail of a 404 */
	/* (account, only_repository, worker, lease, shared_max): the answer of a claim, or no
	 * row. */
	const char *claim_sql;
	const char *get_sql; /* (id, account): its JSON */
	/* Of a heartbeat: a struct heartbeat_input. */
	const struct field *heartbeat_fields;
};

struct heartbeat_input {
	const char *id;
	int64_t attempt;
	const char *log;
	bool releases;
};

/** The rows of `heartbeat_fields`; `name` of the path's parameter. */
#define HEARTBEAT_FIELDS(name)                                                                   \
	PATH_UUID(struct heartbeat_input, id, name),                                             \
		BODY_INT(struct heartbeat_input, attempt, "attempt", REQUIRED, 1, INT32_MAX, 0), \
		BODY_TEXT(struct heartbeat_input, log, "log", NULLABLE, 0, 0),                   \
		BODY_BOOL(struct heartbeat_input, releases, "release", OPTIONAL, false), FIELD_END

/** For statements that queue work: the account has too much of it. */
extern const struct constraint QUEUE_CONSTRAINTS[];

/** The members of `error` in a report: what went wrong. `kind` says who is at fault: the
 * environment (the image, the machine), the task (the command, its metrics), a time limit, somebody
 * who cancelled, or a lost worker. */
extern const struct field ERROR_MEMBERS[];
extern const char *const FAULT_KINDS[]; /* of `kind`; NULL-terminated */

/** What work has besides what it is made of, which nobody writes: rows of a table. */
#define QUEUE_READ_ONLY_FIELDS                                                                  \
	READ_ONLY("status"), READ_ONLY("attempts"), READ_ONLY("worker"), READ_ONLY("log_tail"), \
		READ_ONLY("log_length"), READ_ONLY("created_at"), READ_ONLY("started_at"),      \
		READ_ONLY("finished_at"), READ_ONLY("error")

/** The operations on work. */
void queue_claim(struct request *rq, const struct queue *queue);
void queue_heartbeat(struct request *rq, const struct queue *queue);
void queue_get(struct request *rq, const struct queue *queue, const char *id);
void queue_cancel(struct request *rq, const struct queue *queue, const char *id);

/** Whose work the caller reports on: its account's, or with `service:any_user` everybody's
 * (NULL). */
struct pg_param queue_account(struct request *rq);

/** Raise ERR_FORBIDDEN when the caller's key is limited to a repository and the work concerns
 * another; ERR_NOT_FOUND when it concerns none. */
void queue_require_repo(struct request *rq, const struct queue *queue, const char *id);

/** Raise what an outcome other than `ok` of the schema's functions means. */
void queue_require_ok(struct request *rq, const struct queue *queue, const char *outcome);

/** The interval of a lease, for a statement. */
struct pg_param queue_lease(struct request *rq);

/** Recurring: end what has taken too long, and queue again what lost workers had. */
void work_expire(struct request *rq);
extern const int64_t WORK_EXPIRE_EVERY_MS;
