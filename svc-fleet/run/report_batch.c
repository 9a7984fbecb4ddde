#include "run/report_batch.h"

#include "base/base.h"
#include "loop/wait.h"
#include "loop/worker.h"
#include "pg/pg.h"
#include "run.sql.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define BATCH_BYTES      ((size_t)1 << 20) /* one report may be larger */
#define BATCH_MAX        64                /* reports */
#define BATCH_TIMEOUT_MS 30000
#define LINGER_MS        2 /* that a batch waits for more reports after its first */

/* Columns of runs_tell. */
enum { PLACE, IS_NEW, SHOWN };

enum report_state { REPORT_WAITS, REPORT_SENT, REPORT_ANSWERED };

/* A report and the request that waits for it. In the arena of that request, which is pinned while
 * the report is sent. */
struct report {
	struct request *rq;
	const char *telling;
	size_t length;
	uint64_t turn; /* position among the accounts' reports */
	enum report_state state;
	enum err_code code; /* when answered; and its fault */
	const struct fault *fault;
	struct stored_report stored;
	TAILQ_ENTRY(report) link;
};

TAILQ_HEAD(report_list, report);

struct report_batcher {
	struct worker *worker;
	struct report_list waiting, sent; /* `waiting` in the order of turns */
	bool is_running;
};

struct report_batcher *report_batcher_new(struct worker *worker)
{
	struct report_batcher *batcher = calloc(1, sizeof(*batcher));
	require(batcher);
	batcher->worker = worker;
	TAILQ_INIT(&batcher->waiting);
	TAILQ_INIT(&batcher->sent);
	return batcher;
}

void report_batcher_free(struct report_batcher *batcher)
{
	require(!batcher || (TAILQ_EMPTY(&batcher->waiting) && !batcher->is_running));
	free(batcher);
}

/* Put it behind the reports of earlier turns. The account's next turn follows its last one that
 * waits; an account that has none waiting shares the turn that is the next. */
static void enqueue(struct report_batcher *batcher, struct report *report)
{
	struct report *other, *before = NULL;
	const struct report *first = TAILQ_FIRST(&batcher->waiting);
	report->turn = first ? first->turn : 0;
	TAILQ_FOREACH (other, &batcher->waiting, link)
		if (uuid_equal(&other->rq->caller.account, &report->rq->caller.account))
			report->turn = other->turn + 1;
	TAILQ_FOREACH_REVERSE (before, &batcher->waiting, report_list, link)
		if (before->turn <= report->turn)
			break;
	if (before)
		TAILQ_INSERT_AFTER(&batcher->waiting, before, report, link);
	else
		TAILQ_INSERT_HEAD(&batcher->waiting, report, link);
}

/* The request ends: what was not sent is not stored. What was sent continues, and its answer is
 * dropped. */
static void report_leave(struct request *rq, void *held)
{
	struct report *report = held;
	if (report->state == REPORT_WAITS)
		TAILQ_REMOVE(&((struct report_batcher *)rq->worker->user)->waiting, report, link);
}

static void answer(struct report_batcher *batcher, struct report *report, enum err_code code,
                   const struct fault *fault)
{
	struct request *rq = report->rq;
	TAILQ_REMOVE(&batcher->sent, report, link);
	report->state = REPORT_ANSWERED;
	report->code = code;
	report->fault = fault;
	if (rq->fiber)
		fiber_wake(rq->fiber);
	request_unpin(rq);
}

/* Whether the failure is of the statement as a whole, and not of what a report contains. */
static bool is_shared_failure(enum err_code code)
{
	return code == ERR_UNAVAILABLE || code == ERR_UNCERTAIN || code == ERR_TIMEOUT ||
	       code == ERR_CONTENTION || code == ERR_CLIENT_GONE;
}

static const char *join(struct request *rq, struct report *const *reports, size_t count)
{
	size_t length = sizeof("[]") + count;
	for (size_t i = 0; i < count; i++)
		length += reports[i]->length;
	char *text = arena_alloc(rq->arena, length), *end = text;
	for (size_t i = 0; i < count; i++) {
		*end++ = i ? ',' : '[';
		memcpy(end, reports[i]->telling, reports[i]->length);
		end += reports[i]->length;
	}
	*end = ']';
	return text;
}

/* The answers are in the order of the array. */
static void answer_all(struct report_batcher *batcher, struct report *const *reports,
                       const struct pg_rows *rows)
{
	for (int i = 0; i < rows->count; i++) {
		struct report *report = reports[pg_value_int(rows, i, PLACE) - 1];
		report->stored.is_new = pg_value_bool(rows, i, IS_NEW);
		if (report->rq->fiber)
			report->stored.json =
				arena_strdup(report->rq->arena, pg_value(rows, i, SHOWN));
		answer(batcher, report, ERR_NONE, NULL);
	}
}

static void store(struct request *rq, struct report_batcher *batcher, struct report *const *reports,
                  size_t count)
{
	struct pg_rows *rows;
	enum err_code code =
		pg_try(rq, &rows, NULL, RUNS_TELL_SQL, pg_text(join(rq, reports, count)));
	if (!code) {
		answer_all(batcher, reports, rows);
	} else if (count > 1 && !is_shared_failure(code)) {
		store(rq, batcher, reports, count / 2);
		store(rq, batcher, reports + count / 2, count - count / 2);
	} else {
		for (size_t i = 0; i < count; i++)
			answer(batcher, reports[i], code, rq->pg_fault);
	}
}

static void batch_run(struct request *rq)
{
	struct report_batcher *batcher = rq->user;
	struct report *reports[BATCH_MAX], *report;
	size_t count = 0, bytes = 0;
	fiber_sleep(rq, LINGER_MS);
	while (count < BATCH_MAX && (report = TAILQ_FIRST(&batcher->waiting)) &&
	       (count == 0 || bytes + report->length <= BATCH_BYTES)) {
		TAILQ_REMOVE(&batcher->waiting, report, link);
		TAILQ_INSERT_TAIL(&batcher->sent, report, link);
		report->state = REPORT_SENT;
		request_pin(report->rq);
		bytes += report->length;
		reports[count++] = report;
	}
	if (count > 0)
		store(rq, batcher, reports, count);
}

static void batch_start(struct report_batcher *batcher);

/* The reports that are still unanswered share the failure of the batch. */
static void batch_done(struct request *rq)
{
	struct report_batcher *batcher = rq->user;
	struct report *report;
	while ((report = TAILQ_FIRST(&batcher->sent)))
		answer(batcher, report, rq->problem.code ? rq->problem.code : ERR_INTERNAL, NULL);
	batcher->is_running = false;
	batch_start(batcher);
}

static void batch_start(struct report_batcher *batcher)
{
	if (batcher->is_running || TAILQ_EMPTY(&batcher->waiting))
		return;
	batcher->is_running = true;
	request_spawn(batcher->worker, "reports", BATCH_TIMEOUT_MS, batch_run, batch_done, batcher);
}

static struct stored_report store_alone(struct request *rq, struct report *report)
{
	struct pg_rows *rows = pg_query(rq, RUNS_TELL_SQL, pg_text(join(rq, &report, 1)));
	return (struct stored_report){pg_value_bool(rows, 0, IS_NEW), pg_value(rows, 0, SHOWN)};
}

struct stored_report report_store(struct request *rq, const char *telling)
{
	struct report_batcher *batcher = rq->worker->user;
	struct report *report = arena_new_of(rq->arena, struct report);
	*report = (struct report){.rq = rq, .telling = telling, .length = strlen(telling)};
	if (pg_in_transaction(rq))
		return store_alone(rq, report);
	enqueue(batcher, report);
	request_hold(rq, report_leave, report);
	batch_start(batcher);
	while (report->state != REPORT_ANSWERED)
		request_wait(rq);
	request_unhold(rq, report_leave);
	if (report->code) {
		rq->pg_fault = report->fault;
		pg_raise(rq, report->code);
	}
	return report->stored;
}
