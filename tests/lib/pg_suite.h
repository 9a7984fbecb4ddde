/** What the tests of the Postgres client share: a server for all of a program's tests, a worker
 * with a pool for each, and statements that run as requests. */
#pragma once

#include "pg/pg.h"
#include "pg_fixture.h"
#include "worker_fixture.h"

static struct pg_fixture server;
static struct worker_fixture fixture;

/** Set-up and tear-down of the group. */
static inline int start_server(void **state)
{
	(void)state;
	pg_fixture_new(&server);
	return 0;
}

static inline int stop_server(void **state)
{
	(void)state;
	pg_fixture_free(&server);
	return 0;
}

/** Start the worker, with a pool. */
static inline void open_pool(const struct pg_settings *settings)
{
	fixture_start(&fixture);
	fixture.worker.pg = pg_pool_new(&fixture.worker.loop, settings);
	assert_non_null(fixture.worker.pg);
}

/** Tear-down of a test: ends pool and worker. */
static inline int teardown(void **state)
{
	(void)state;
	pg_pool_free(fixture.worker.pg);
	fixture_stop(&fixture);
	return 0;
}

/** One statement with one number as a request, and what became of it. */
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
	outcome->answer = pg_empty(rows) ? 0 : (long)pg_value_int(rows, 0, 0);
}

static inline void note_outcome(struct request *rq)
{
	struct outcome *outcome = rq->user;
	outcome->code = rq->problem.code;
	outcome->is_over = true;
}

/** Begin `fn` as a request. */
static inline void spawn(struct outcome *outcome, request_fn *fn)
{
	request_spawn(&fixture.worker, "test", FIXTURE_PATIENCE_MS, fn, note_outcome, outcome);
}
