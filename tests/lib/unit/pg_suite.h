/** Shared by the tests of the Postgres client: one server for all tests of a program, a worker with
 * a pool for each test, and statements that run as requests. */
#pragma once

#include "pg/pg.h"
#include "pg_server.h"
#include "worker_fixture.h"

static struct worker_fixture fixture;

/** Start the worker, with a pool. */
static inline void open_pool(const struct pg_settings *settings)
{
	fixture_start(&fixture);
	fixture.worker.pg = pg_pool_new(&fixture.worker.loop, settings);
	assert_non_null(fixture.worker.pg);
}

/** Teardown of a test: frees the pool and the worker. */
static inline int teardown(void **state)
{
	(void)state;
	pg_pool_free(fixture.worker.pg);
	fixture_stop(&fixture);
	return 0;
}

/** A request that runs one statement with one number, and its outcome. */
struct outcome {
	const char *sql;
	long number;
	enum err_code code;
	bool is_over;
	long answer; /* 0: no rows */
};

/** Run `sql` with `number`. */
static inline void query_number(struct request *rq)
{
	struct outcome *outcome = rq->user;
	struct pg_rows *rows = pg_query(rq, outcome->sql, pg_int(outcome->number));
	outcome->answer = pg_empty(rows) ? 0 : (long)pg_value_int(rows, 0);
}

static inline void note_outcome(struct request *rq)
{
	struct outcome *outcome = rq->user;
	outcome->code = rq->problem.code;
	outcome->is_over = true;
}

/** Start `fn` as a request. */
static inline void spawn(struct outcome *outcome, request_fn *fn)
{
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, fn, note_outcome, outcome);
}
