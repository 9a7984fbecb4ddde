#include "queue/queue.h"

#include "input/key_limit.h"
#include "json/json.h"
#include "queue.sql.h"
#include "queue/wakeup.h"

#include <string.h>

#define WAIT_MAX_S     30
#define EXPIRE_BATCH   100  /* work_expire() in queue.fn.sql */
#define ANSWER_TIME_MS 2000 /* of the request's time, for the claim after the wait */

static int64_t lease_ms, first_lease_ms, attempts_max, waiting_max, shared_max, build_timeout_ms;

const struct setting QUEUE_SETTINGS[] = {
	SETTING_MS(&lease_ms, "WORK_LEASE", "60s", 1000, 3600000,
                   "How long a build or run stays with a worker that sends no heartbeat."),
	SETTING_MS(&first_lease_ms, "WORK_FIRST_LEASE", "15s", 1000, 3600000,
                   "The same before its first heartbeat, at most WORK_LEASE: a claim may have been "
                   "answered to a worker that had gone."),
	SETTING_INT(&attempts_max, "WORK_ATTEMPTS", "3", 1, 100,
                    "How many workers may lose a build or run before it fails."),
	SETTING_INT(&waiting_max, "WORK_WAITING_MAX", "10000", 1, 1000000,
                    "Builds of an account that may wait for workers, and as many runs."),
	SETTING_INT(&shared_max, "WORK_SHARED_MAX", "0", 0, 1000000,
                    "Workers with service:any_user begin no build, or run, of an account of which "
                    "workers have so many already; 0: there is no bound."),
	SETTING_MS(&build_timeout_ms, "BUILD_TIMEOUT", "1h", 1000, 86400000,
                   "How long a build may take."),
	SETTING_END,
};

const int64_t WORK_EXPIRE_EVERY_MS = 1000;

const struct constraint QUEUE_CONSTRAINTS[] = {
	{"build_waiting_max", ERR_CONFLICT, NULL,
         "too many builds of this account are waiting; try again when workers have taken some"},
	{"run_waiting_max", ERR_CONFLICT, NULL,
         "too many runs of this account are waiting; try again when workers have taken some"},
	{0},
};

const char *const FAULT_KINDS[] = {"environment", "task", "timeout", "cancelled", "lost", NULL};

const struct field ERROR_MEMBERS[] = {
	JSON_ENUM("kind", REQUIRED, FAULT_KINDS),
	JSON_TEXT("message", REQUIRED, 0, 2000),
	FIELD_END,
};

struct claim_input {
	const char *worker;
	int64_t wait_s;
};

static const struct field CLAIM_FIELDS[] = {
	BODY_TEXT(struct claim_input, worker, "worker", REQUIRED | TRIMMED, 1, 200),
	BODY_INT(struct claim_input, wait_s, "wait_seconds", OPTIONAL, 0, WAIT_MAX_S, 0),
	FIELD_END,
};

int64_t build_timeout_s(void)
{
	return build_timeout_ms / 1000;
}

struct pg_param queue_waiting_max(struct request *rq)
{
	return pg_int(waiting_max);
}

static struct pg_param interval(struct request *rq, int64_t ms)
{
	return pg_text(arena_printf(rq->arena, "%lld ms", (long long)ms));
}

struct pg_param queue_lease(struct request *rq)
{
	return interval(rq, lease_ms);
}

struct pg_param queue_account(struct request *rq)
{
	return caller_has_scope(rq, SCOPE_BIT_SERVICE_ANY_USER) ? pg_null()
	                                                        : pg_uuid(rq->caller.account);
}

void queue_require_ok(struct request *rq, const struct queue *queue, const char *outcome)
{
	if (strcmp(outcome, "missing") == 0)
		raise_error(rq, ERR_NOT_FOUND, "%s", queue->missing);
	if (strcmp(outcome, "final") == 0)
		raise_error(rq, ERR_CONFLICT, "the %s has ended before", queue->kind);
	if (strcmp(outcome, "lost") == 0)
		raise_error(rq, ERR_CONFLICT,
		            "the %s is not this attempt's any more: its lease has ended",
		            queue->kind);
}

void queue_require_repo(struct request *rq, const struct queue *queue, const char *id)
{
	if (!rq->caller.repo)
		return;
	struct pg_rows *rows =
		pg_query(rq, WORK_REPO_SQL, pg_text(id), pg_text(queue->kind), queue_account(rq));
	if (!pg_empty(rows))
		require_repo_of(rq, pg_get(rows, 0, "repo"), queue->missing);
}

/* --- Claims ----------------------------------------------------------------------------------- */

static struct pg_rows *claim(struct request *rq, const struct queue *queue, const char *worker)
{
	return pg_query(rq, queue->claim_sql, queue_account(rq), pg_text(rq->caller.repo),
	                pg_text(worker), interval(rq, MIN_OF(first_lease_ms, lease_ms)),
	                pg_int(shared_max));
}

void queue_claim(struct request *rq, const struct queue *queue)
{
	struct claim_input *in = request_input(rq, struct claim_input, CLAIM_FIELDS);
	uint64_t left_ms = request_left_ms(rq);
	uint64_t wait_ms = MIN_OF((uint64_t)in->wait_s * 1000,
	                          left_ms > ANSWER_TIME_MS ? left_ms - ANSWER_TIME_MS : 0);
	struct waiter *waiter =
		waiter_join(rq, queue->kind, queue_account(rq).text, rq->caller.repo, wait_ms);
	struct pg_rows *rows;
	do {
		rows = claim(rq, queue, in->worker);
	} while (pg_empty(rows) && waiter_wait(rq, waiter));
	waiter_leave(rq, waiter);
	if (pg_empty(rows))
		reply_empty(rq, 204);
	else
		reply_json(rq, 200, pg_json(rows));
}

/* --- The rest --------------------------------------------------------------------------------- */

void queue_heartbeat(struct request *rq, const struct queue *queue)
{
	struct heartbeat_input *in =
		request_input(rq, struct heartbeat_input, queue->heartbeat_fields);
	queue_require_repo(rq, queue, in->id);
	struct pg_rows *rows =
		pg_query(rq, WORK_HEARTBEAT_SQL, pg_text(in->id), pg_text(queue->kind),
	                 queue_account(rq), pg_int(in->attempt), pg_text(in->log),
	                 pg_bool(in->releases), queue_lease(rq));
	queue_require_ok(rq, queue, pg_get(rows, 0, "outcome"));
	reply_json(rq, 200, pg_get(rows, 0, "answer"));
}

void queue_get(struct request *rq, const struct queue *queue, const char *id)
{
	queue_require_repo(rq, queue, id);
	reply_one(rq, 200, pg_query(rq, queue->get_sql, pg_text(id), pg_uuid(rq->caller.account)),
	          queue->missing);
}

void queue_cancel(struct request *rq, const struct queue *queue, const char *id)
{
	queue_require_repo(rq, queue, id);
	struct pg_rows *rows = pg_query(rq, WORK_CANCEL_SQL, pg_text(id), pg_text(queue->kind),
	                                pg_uuid(rq->caller.account));
	queue_require_ok(rq, queue, pg_value(rows, 0));
	reply_one(rq, 200, pg_query(rq, queue->get_sql, pg_text(id), pg_uuid(rq->caller.account)),
	          queue->missing);
}

void work_expire(struct request *rq)
{
	while (pg_value_int(pg_query(rq, WORK_PASS_SQL, queue_lease(rq), pg_int(attempts_max)),
	                    0) == EXPIRE_BATCH)
		;
}
