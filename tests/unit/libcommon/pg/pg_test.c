#include "pg/pg.h"

#include "loop/wait.h"
#include "observe/metrics.h"
#include "pg_suite.h"

#include <libpq-fe.h>

#include <stdio.h>
#include <stdlib.h>

static int setup(void **state)
{
	(void)state;
	pg_fixture_run(&server, "SET client_min_messages = error; DROP SCHEMA public CASCADE; "
	                        "CREATE SCHEMA public");
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = 4,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	return 0;
}

/* Run the loop until the query, on a connection of the test's own, returns non-zero. */
static void until_true(const char *sql)
{
	for (int i = 0; pg_fixture_run(&server, sql) == 0; i++) {
		assert_true(i < 20000);
		uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	}
}

#define SLEEPING                                                                                   \
	"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep' " \
	"AND pid <> pg_backend_pid()"

static void values(struct request *rq)
{
	size_t length;
	struct uuid id = uuid_new();
	char text[UUID_TEXT_LEN + 1];
	uuid_format(&id, text);
	struct pg_rows *rows = pg_query(
		rq,
		"SELECT $1::text, $2::text AS none, $3::bigint AS number, $4::float8 AS part, "
		"$5::uuid AS id, $6::bytea AS bytes, $7::timestamptz AS at, $8::boolean AS is, "
		"''::text AS empty, NULL::bytea AS no_bytes",
		pg_text("ä'\"\\"), pg_null(), pg_int(INT64_MIN), pg_text("0.1"), pg_uuid(id),
		pg_bytes("a\0\xff", 3), pg_time(1769851800123), pg_bool(true));
	assert_int_equal(rows->count, 1);
	assert_int_equal(rows->columns, 10);
	assert_string_equal(pg_json(rows), "ä'\"\\");
	assert_null(pg_get(rows, 0, "none"));
	assert_int_equal(pg_get_int(rows, 0, "none"), 0);
	assert_true(pg_get_int(rows, 0, "number") == INT64_MIN);
	assert_true(pg_get_float(rows, 0, "part") == 0.1);
	assert_string_equal(pg_get(rows, 0, "id"), text);
	assert_memory_equal(pg_get_bytes(rq->arena, rows, 0, "bytes", &length), "a\0\xff", 3);
	assert_int_equal(length, 3);
	assert_string_equal(pg_get(rows, 0, "at"), "2026-01-31 09:30:00.123+00");
	assert_true(pg_get_bool(rows, 0, "is"));
	assert_string_equal(pg_get(rows, 0, "empty"), "");
	assert_null(pg_get_bytes(rq->arena, rows, 0, "no_bytes", &length));
	rows = pg_query(rq, "CREATE TABLE t (a int)");
	assert_true(pg_empty(rows));
	rows = pg_query(rq, "INSERT INTO t SELECT generate_series(1, $1::int)", pg_int(7));
	assert_int_equal(rows->affected, 7);
}

static void test_parameters_and_values(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	spawn(&outcome, values);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	assert_true(pg_pool_is_ready(fixture.worker.pg));
}

#define MANY 3000

/* Each statement of a shared pipeline gets its own answer, also when other statements fail. */
static void test_a_failure_does_not_affect_other_statements(void **state)
{
	(void)state;
	static const struct {
		const char *sql;
		enum err_code code;
	} KINDS[] = {
		{"SELECT $1::int * 2", ERR_NONE},
		{"SELECT 1 / ($1::int - $1::int)", ERR_INVALID},
		{"INSERT INTO t VALUES (0, $1::int)", ERR_CONFLICT},
		{"/* read */ SELECT $1::int * 2 FROM generate_series(1, 50)", ERR_NONE},
		{"SELECT no_such_function($1::int)", ERR_INTERNAL},
		{"INSERT INTO t VALUES ($1::int, 0) RETURNING a * 2", ERR_NONE},
	};
	pg_fixture_run(&server,
	               "CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t VALUES (0)");
	struct outcome *outcomes = calloc(MANY, sizeof(*outcomes));
	for (int i = 0; i < MANY; i++) {
		outcomes[i] = (struct outcome){.sql = KINDS[i % 6].sql, .number = i + 1};
		spawn(&outcomes[i], query_number);
	}
	fixture_idle(&fixture);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(outcomes[i].code, KINDS[i % 6].code);
		assert_int_equal(outcomes[i].answer, outcomes[i].code ? 0 : 2 * (i + 1));
	}
	free(outcomes);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t"), MANY / 6 + 1);
}

/* Three rows, of which the second fails for every third request, the first one included; the third
 * is made from the first. */
static void add_together(struct request *rq)
{
	struct outcome *outcome = rq->user;
	int number = (int)outcome->number;
	const struct pg_call calls[] = {
		PG_CALL("INSERT INTO t VALUES ($1::int)", pg_int(number)),
		PG_CALL("INSERT INTO t VALUES ($1::int / $2::int)", pg_int(-number),
	                pg_int(number % 3 == 1 ? 0 : 1)),
		PG_CALL("INSERT INTO t SELECT a + 1000000 FROM t WHERE a = $1::int RETURNING a",
	                pg_int(number)),
	};
	struct pg_rows *rows;
	enum err_code code = pg_try_all(rq, &rows, NULL, calls, ARRAY_LEN(calls));
	if (code != ERR_NONE)
		pg_raise(rq, code);
	assert_int_equal(pg_value_int(rows, 0), number + 1000000);
	outcome->answer = (long)pg_value_int(
		pg_query(rq, "SELECT count(*) FROM t WHERE a IN ($1::int, $1::int + 1000000)",
	                 pg_int(number)),
		0);
}

/* Of statements that are run together all take effect, or none, whatever the others of the
 * connection do. */
static void test_statements_take_effect_together(void **state)
{
	(void)state;
	pg_fixture_run(&server, "CREATE TABLE t (a int PRIMARY KEY)");
	struct outcome *outcomes = calloc(MANY, sizeof(*outcomes));
	for (int i = 0; i < MANY; i++) {
		outcomes[i].number = i + 1;
		spawn(&outcomes[i], add_together);
	}
	fixture_idle(&fixture);
	for (int i = 0; i < MANY; i++) {
		bool fails = (i + 1) % 3 == 1;
		assert_int_equal(outcomes[i].code, fails ? ERR_INVALID : ERR_NONE);
		assert_int_equal(outcomes[i].answer, fails ? 0 : 2);
	}
	free(outcomes);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t"), MANY / 3 * 2 * 3);
}

static void add_in_transaction(struct request *rq)
{
	struct outcome *outcome = rq->user;
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES ($1)", pg_int(outcome->number));
	/* It sees its own uncommitted row. */
	struct pg_rows *rows = pg_query(rq, "SELECT count(*) FILTER (WHERE a = $1) FROM t",
	                                pg_int(outcome->number));
	outcome->answer = (long)pg_value_int(rows, 0);
	rows = pg_query(rq, "SELECT count(*) FROM (SELECT xmin FROM t WHERE xmin = "
	                    "pg_current_xact_id()::xid) AS mine");
	assert_int_equal(pg_value_int(rows, 0), 1);
	if (outcome->number % 3 == 0)
		pg_rollback(rq);
	else if (outcome->number % 3 == 1)
		pg_commit(rq);
	else
		raise_error(rq, ERR_FORBIDDEN, "enough");
	assert_false(pg_in_transaction(rq));
}

static void test_transactions_are_isolated(void **state)
{
	(void)state;
	struct outcome outcomes[90] = {0};
	pg_fixture_run(&server, "CREATE TABLE t (a int PRIMARY KEY)");
	for (int i = 0; i < 90; i++) {
		outcomes[i].number = i;
		spawn(&outcomes[i], add_in_transaction);
	}
	fixture_idle(&fixture);
	for (int i = 0; i < 90; i++) {
		assert_int_equal(outcomes[i].code, i % 3 == 2 ? ERR_FORBIDDEN : ERR_NONE);
		assert_int_equal(outcomes[i].answer, 1);
	}
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t"), 30);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t WHERE a % 3 <> 1"), 0);
}

/* A transaction that was begun in a page ends with the page, one that was begun before it goes on,
 * and a raise rolls back. */
static void transactions_and_pages(struct request *rq)
{
	request_page_begin(rq);
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (1)");
	request_page_end(rq);
	assert_false(pg_in_transaction(rq));
	pg_begin(rq);
	request_page_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (2)");
	request_page_end(rq);
	pg_commit(rq);
	pg_begin(rq);
	request_page_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (3)");
	raise_error(rq, ERR_FORBIDDEN, "enough");
}

static void test_a_page_ends_its_transactions(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	pg_fixture_run(&server, "CREATE TABLE t (a int)");
	spawn(&outcome, transactions_and_pages);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_FORBIDDEN);
	assert_int_equal(pg_fixture_run(&server, "SELECT sum(a) FROM t"), 2);
}

static void sleep_in_transaction(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (1)");
	pg_query(rq, "SELECT pg_sleep(600)");
}

/* Its fiber is cancelled while a statement runs: the server ends the statement and rolls back, and
 * the pool goes on working. */
static void test_a_cancelled_transaction_is_rolled_back(void **state)
{
	(void)state;
	struct outcome outcome = {0}, after = {.sql = "SELECT $1::int", .number = 5};
	pg_fixture_run(&server, "CREATE TABLE t (a int)");
	struct request *rq = fixture_spawn(&fixture, sleep_in_transaction, note_outcome, &outcome);
	until_true(SLEEPING);
	fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_CLIENT_GONE);
	spawn(&after, query_number);
	fixture_idle(&fixture);
	assert_int_equal(after.answer, 5);
	until_true("SELECT (NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = "
	           "'PgSleep'))::int");
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t"), 0);
}

static void test_a_deadline_does_not_affect_other_statements(void **state)
{
	(void)state;
	struct outcome slow = {.sql = "SELECT pg_sleep(5 + $1)"};
	struct outcome quick[20];
	request_spawn(&fixture.worker, "test", 150, query_number, note_outcome, &slow);
	for (int i = 0; i < 20; i++) {
		quick[i] = (struct outcome){.sql = "SELECT $1::int", .number = i};
		spawn(&quick[i], query_number);
	}
	fixture_idle(&fixture);
	assert_int_equal(slow.code, ERR_TIMEOUT);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(quick[i].code, ERR_NONE);
		assert_int_equal(quick[i].answer, i);
	}
}

static void sleep_too_long(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "SELECT pg_sleep(600)");
}

/* In a transaction the server ends the statement at the deadline. */
static void test_the_server_applies_a_transactions_deadline(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	request_spawn(&fixture.worker, "test", 300, sleep_too_long, note_outcome, &outcome);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_TIMEOUT);
	until_true("SELECT (NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = "
	           "'PgSleep'))::int");
}

static bool may_go_on;

static void hold_transaction(struct request *rq)
{
	struct outcome *outcome = rq->user;
	pg_begin(rq);
	outcome->answer = 1;
	while (!may_go_on)
		request_wait(rq);
	pg_commit(rq);
	outcome->answer = 2;
}

static void begin_only(struct request *rq)
{
	struct outcome *outcome = rq->user;
	pg_begin(rq);
	pg_commit(rq);
	outcome->answer = 1;
}

/* Repeat until there is a connection: making one may take longer than pool_wait_ms. */
static void until_answered(struct outcome *outcome, request_fn *fn)
{
	do {
		outcome->is_over = false;
		spawn(outcome, fn);
		fixture_until(&fixture, &outcome->is_over);
	} while (outcome->code == ERR_UNAVAILABLE);
}

/* The same for hold_transaction(), which does not return. */
static struct request *until_held(struct outcome *outcome)
{
	struct request *held = NULL;
	fixture_wait_start(&fixture);
	for (outcome->is_over = true; outcome->answer == 0; fixture_turn(&fixture)) {
		if (!outcome->is_over)
			continue;
		outcome->is_over = false;
		held = fixture_spawn(&fixture, hold_transaction, note_outcome, outcome);
	}
	uv_timer_stop(&fixture.tick);
	return held;
}

static void test_an_exhausted_pool_still_runs_single_statements(void **state)
{
	(void)state;
	struct outcome holder = {0}, begins[5] = {0},
		       single = {.sql = "SELECT $1::int", .number = 3};
	may_go_on = false;
	open_pool(&(struct pg_settings){.url = server.url, .connections = 2, .pool_wait_ms = 200});
	struct request *held = until_held(&holder);
	for (int i = 0; i < 5; i++) {
		spawn(&begins[i], begin_only);
		fixture_until(&fixture, &begins[i].is_over);
		assert_int_equal(begins[i].code, ERR_UNAVAILABLE);
	}
	until_answered(&single, query_number);
	assert_int_equal(single.answer, 3);
	assert_int_equal(holder.answer, 1);
	may_go_on = true;
	fiber_wake(held->fiber);
	fixture_idle(&fixture);
	assert_int_equal(holder.answer, 2);
	until_answered(&begins[0], begin_only);
	assert_int_equal(begins[0].answer, 1);
}

static void test_serialisation_failures_are_retried(void **state)
{
	(void)state;
	struct outcome outcome = {.sql = "SELECT flaky($1)", .number = 3};
	pg_fixture_run(
		&server,
		"CREATE SEQUENCE calls; CREATE FUNCTION flaky(n bigint) RETURNS bigint AS $$ "
		"BEGIN IF nextval('calls') <= n THEN RAISE SQLSTATE '40001'; END IF; "
		"RETURN currval('calls'); END $$ LANGUAGE plpgsql");
	spawn(&outcome, query_number);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, 4);
}

/* A deferred constraint fails at the Sync, after the statement's own answer. */
static void test_deferred_constraints(void **state)
{
	(void)state;
	struct outcome outcome = {.sql = "INSERT INTO t VALUES ($1)", .number = 9};
	pg_fixture_run(&server, "CREATE TABLE p (a int PRIMARY KEY); CREATE TABLE t (a int "
	                        "REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
	spawn(&outcome, query_number);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_INVALID);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t"), 0);
}

/* Two transactions that lock two rows in opposite order. */
static void lock_both(struct request *rq)
{
	struct outcome *outcome = rq->user;
	static int locked;
	pg_begin(rq);
	pg_query(rq, "UPDATE t SET b = b + 1 WHERE a = $1", pg_int(outcome->number));
	for (locked++; locked < 2;)
		fiber_sleep(rq, 0);
	pg_query(rq, "UPDATE t SET b = b + 1 WHERE a = $1", pg_int(3 - outcome->number));
	pg_commit(rq);
}

static void note_effects(struct request *rq)
{
	struct outcome *outcome = rq->user;
	note_outcome(rq);
	outcome->answer = rq->has_effects;
}

static void test_the_victim_of_a_deadlock_has_no_effects(void **state)
{
	(void)state;
	struct outcome outcomes[2] = {{.number = 1}, {.number = 2}};
	pg_fixture_run(&server,
	               "CREATE TABLE t (a int, b int); INSERT INTO t VALUES (1, 0), (2, 0)");
	for (int i = 0; i < 2; i++)
		request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, lock_both, note_effects,
		              &outcomes[i]);
	fixture_idle(&fixture);
	int victim = outcomes[0].code ? 0 : 1;
	assert_int_equal(outcomes[victim].code, ERR_CONTENTION);
	assert_int_equal(outcomes[victim].answer, false);
	assert_int_equal(outcomes[1 - victim].code, ERR_NONE);
	assert_int_equal(outcomes[1 - victim].answer, true);
}

static void single_effects(struct request *rq)
{
	struct pg_rows *rows;
	pg_query(rq, "/* read */ SELECT 1");
	assert_int_equal(pg_try(rq, &rows, NULL, "SELECT 1 / 0"), ERR_INVALID);
	assert_false(rq->has_effects);
	pg_query(rq, "SELECT 1");
	assert_true(rq->has_effects);
}

static void test_a_statement_that_may_write_is_an_effect(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	spawn(&outcome, single_effects);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
}

static void try_inside(struct request *rq)
{
	struct pg_rows *rows;
	const char *constraint = NULL;
	pg_query(rq, "CREATE TABLE t (a int CONSTRAINT only_once PRIMARY KEY)");
	pg_begin(rq);
	assert_int_equal(pg_try(rq, &rows, &constraint, "INSERT INTO t VALUES (1)"), ERR_NONE);
	assert_int_equal(rows->affected, 1);
	assert_int_equal(pg_try(rq, &rows, &constraint, "INSERT INTO t VALUES (1)"), ERR_CONFLICT);
	assert_string_equal(constraint, "only_once");
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (2)");
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (3)");
	pg_commit(rq);
	pg_rollback(rq);
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (4)");
	pg_commit(rq);
	assert_true(pg_in_transaction(rq));
	rows = pg_query(rq, "SELECT current_setting('expops.request_id')");
	assert_string_equal(pg_json(rows), "test");
	pg_commit(rq);
	assert_false(pg_in_transaction(rq));
	rows = pg_query(rq, "SELECT string_agg(a::text, ',' ORDER BY a) FROM t");
	assert_string_equal(pg_json(rows), "1,4");
}

static void test_nested_transactions_and_failed_statements(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	spawn(&outcome, try_inside);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
}

static void fail_inside(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "SELECT 1/0");
}

static void test_a_failed_transaction_frees_its_connection(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	for (int i = 0; i < 10; i++) {
		spawn(&outcome, fail_inside);
		fixture_idle(&fixture);
		assert_int_equal(outcome.code, ERR_INVALID);
	}
	outcome = (struct outcome){0};
	spawn(&outcome, begin_only);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	until_true("SELECT (NOT EXISTS (SELECT FROM pg_stat_activity WHERE state LIKE 'idle "
	           "in%'))::int");
}

/* Long parameters and answers, many at once: both directions of the socket fill up. */
static void send_much(struct request *rq)
{
	struct outcome *outcome = rq->user;
	size_t length = 2 << 20;
	char *text = arena_alloc(rq->arena, length + 1);
	memset(text, 'x', length);
	struct pg_rows *rows = pg_query(rq, "SELECT $1::text || $1::text", pg_text(text));
	assert_int_equal(rows->lengths[0], 2 * length);
	outcome->answer = 1;
}

static void test_full_sockets(void **state)
{
	(void)state;
	struct outcome outcomes[16] = {0};
	for (int i = 0; i < 16; i++)
		spawn(&outcomes[i], send_much);
	fixture_idle(&fixture);
	for (int i = 0; i < 16; i++)
		assert_int_equal(outcomes[i].answer, 1);
}

/* Statements that wait or run end when the pool is freed. */
static void test_freeing_a_busy_pool(void **state)
{
	struct outcome outcomes[400];
	struct outcome holder = {0};
	may_go_on = false;
	spawn(&holder, hold_transaction);
	for (int i = 0; i < 400; i++) {
		outcomes[i] = (struct outcome){.sql = "SELECT pg_sleep($1)", .number = 600};
		spawn(&outcomes[i], query_number);
	}
	until_true(SLEEPING);
	pg_pool_free(fixture.worker.pg);
	request_list_cancel(fixture.worker.requests, ERR_UNAVAILABLE);
	fixture_idle(&fixture);
	for (int i = 0; i < 400; i++)
		assert_true(outcomes[i].code == ERR_UNAVAILABLE ||
		            outcomes[i].code == ERR_UNCERTAIN);
	assert_int_equal(holder.code, ERR_UNAVAILABLE);
	fixture_stop(&fixture);
	setup(state);
}

static void test_connecting_by_host_name(void **state)
{
	struct outcome outcome = {.sql = "SELECT $1::int", .number = 8};
	teardown(state);
	open_pool(&(struct pg_settings){.url = server.tcp_url,
	                                .connections = 2,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	spawn(&outcome, query_number);
	fixture_idle(&fixture);
	assert_int_equal(outcome.answer, 8);
}

static void query_once(uv_prepare_t *prepare)
{
	uv_prepare_stop(prepare);
	spawn(prepare->data, query_number);
}

/* The pool's own prepare handle, which sends it, is started too late for this turn of the loop. */
static void test_a_statement_of_a_prepare_handle_waits_for_no_event(void **state)
{
	(void)state;
	struct outcome connecting = {.sql = "SELECT $1::int", .number = 1};
	struct outcome outcome = {.sql = "SELECT $1::int FROM pg_advisory_xact_lock(7)",
	                          .number = 8};
	uv_prepare_t prepare = {.data = &outcome};
	PGconn *holder = PQconnectdb(server.url);
	PQclear(PQexec(holder, "SELECT pg_advisory_lock(7)"));
	spawn(&connecting, query_number);
	fixture_idle(&fixture);
	uv_prepare_init(&fixture.worker.loop, &prepare);
	uv_prepare_start(&prepare, query_once);
	uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	assert_false(outcome.is_over);
	assert_int_equal(uv_backend_timeout(&fixture.worker.loop), 0);
	PQfinish(holder);
	fixture_idle(&fixture);
	assert_int_equal(outcome.answer, 8);
	uv_close((uv_handle_t *)&prepare, NULL);
	uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
}

static void test_idle_connections_are_closed(void **state)
{
	struct outcome outcomes[40];
	teardown(state);
	fixture_start(&fixture);
	fixture.worker.pg = pg_pool_new(&fixture.worker.loop,
	                                &(struct pg_settings){.url = server.url,
	                                                      .connections = 4,
	                                                      .pool_wait_ms = FIXTURE_TIMEOUT_MS,
	                                                      .idle_close_ms = 1});
	for (int i = 0; i < 40; i++) {
		outcomes[i] =
			(struct outcome){.sql = "SELECT pg_sleep(0.02 * $1::int)", .number = 1};
		spawn(&outcomes[i], query_number);
	}
	until_true("SELECT count(*) / 2 FROM pg_stat_activity WHERE application_name = 'expops'");
	fixture_idle(&fixture);
	until_true("SELECT (count(*) = 1)::int FROM pg_stat_activity WHERE application_name = "
	           "'expops'");
}

static double metric_value(const char *name)
{
	struct arena *arena = arena_new();
	char *line = strstr(metrics_text(arena), arena_printf(arena, "\n%s ", name));
	double value = line ? strtod(line + strlen(name) + 2, NULL) : -1;
	arena_free(arena);
	return value;
}

/* After all tests before this one, nothing is open, checked out or waiting. */
static void test_gauges_return_to_zero(void **state)
{
	struct outcome outcome = {.sql = "SELECT $1::int"};
	double before = metric_value("expops_pg_statements_total{outcome=\"ok\"}");
	spawn(&outcome, query_number);
	fixture_idle(&fixture);
	assert_true(metric_value("expops_pg_statements_total{outcome=\"ok\"}") == before + 1);
	assert_true(metric_value("expops_pg_connections") == 1);
	pg_pool_free(fixture.worker.pg);
	assert_true(metric_value("expops_pg_connections") == 0);
	assert_true(metric_value("expops_pg_connections_checked_out") == 0);
	assert_true(metric_value("expops_pg_statements_waiting") == 0);
	fixture_stop(&fixture);
	setup(state);
}

static void test_bad_urls_are_refused(void **state)
{
	(void)state;
	static const char *const URLS[] = {"postgres://[::1/d", "nonsense", "=",
	                                   "postgres://h/d?no_such_option=1"};
	for (size_t i = 0; i < ARRAY_LEN(URLS); i++)
		assert_null(
			pg_pool_new(&fixture.worker.loop, &(struct pg_settings){.url = URLS[i]}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parameters_and_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failure_does_not_affect_other_statements,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_statements_take_effect_together, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_transactions_are_isolated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_page_ends_its_transactions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_cancelled_transaction_is_rolled_back, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_deadline_does_not_affect_other_statements,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_server_applies_a_transactions_deadline,
	                                        setup, teardown),
		cmocka_unit_test_teardown(test_an_exhausted_pool_still_runs_single_statements,
	                                  teardown),
		cmocka_unit_test_setup_teardown(test_serialisation_failures_are_retried, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_deferred_constraints, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_victim_of_a_deadlock_has_no_effects, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_statement_that_may_write_is_an_effect, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_nested_transactions_and_failed_statements,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failed_transaction_frees_its_connection,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_sockets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_freeing_a_busy_pool, setup, teardown),
		cmocka_unit_test_setup_teardown(test_connecting_by_host_name, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_statement_of_a_prepare_handle_waits_for_no_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_urls_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle_connections_are_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gauges_return_to_zero, setup, teardown),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
