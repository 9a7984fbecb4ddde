/* Prepared statements: when they are made, made again and left out. */
#include "pg_suite.h"

#include <stdio.h>

static int setup(void **state)
{
	(void)state;
	pg_fixture_run(&server, "SET client_min_messages = error; DROP TABLE IF EXISTS t; "
	                        "CREATE TABLE t (a int)");
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = 1,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	return 0;
}

static void reread(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, "SELECT * FROM t");
	assert_int_equal(rows->columns, 1);
	pg_query(rq, "ALTER TABLE t ADD COLUMN b int");
	rows = pg_query(rq, "SELECT * FROM t");
	assert_int_equal(rows->columns, 2);
}

static void test_stale_plans_are_prepared_again(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	spawn(&outcome, reread);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
}

/* Fails once, as a statement does that begins while the function is dropped and made again. */
static const char BEGINS_TOO_EARLY[] =
	"DROP SEQUENCE IF EXISTS tries CASCADE; CREATE SEQUENCE tries; "
	"CREATE OR REPLACE FUNCTION replaced() RETURNS int LANGUAGE plpgsql AS $$ BEGIN "
	"IF nextval('tries') = 1 THEN RAISE EXCEPTION USING ERRCODE = 'XX000', "
	"MESSAGE = 'cache lookup failed for function 4711'; END IF; RETURN 5; END $$";

static void call_replaced(struct request *rq)
{
	struct outcome *outcome = rq->user;
	outcome->answer = (long)pg_value_int(pg_query(rq, "SELECT replaced()"), 0);
}

static void test_a_replaced_function_is_called_again(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	pg_fixture_run(&server, BEGINS_TOO_EARLY);
	spawn(&outcome, call_replaced);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, 5);
}

/* Fails once, as a statement does that waits for the table while it gets a column. */
static const char GETS_A_COLUMN[] =
	"DROP SEQUENCE IF EXISTS tries CASCADE; CREATE SEQUENCE tries; "
	"CREATE FUNCTION widened() RETURNS t LANGUAGE plpgsql AS $$ DECLARE made t; BEGIN "
	"IF nextval('tries') = 1 THEN ALTER TABLE t ADD COLUMN b int; END IF; "
	"INSERT INTO t VALUES (5) RETURNING * INTO made; RETURN made; END $$";

static void call_widened(struct request *rq)
{
	struct outcome *outcome = rq->user;
	outcome->answer = (long)pg_value_int(pg_query(rq, "SELECT w.* FROM widened() AS w"), 0);
}

static void test_a_function_whose_row_gets_a_column_is_called_again(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	pg_fixture_run(&server, GETS_A_COLUMN);
	spawn(&outcome, call_widened);
	fixture_idle(&fixture);
	pg_fixture_run(&server, "DROP FUNCTION widened");
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, 5);
}

static void run_many_texts(struct request *rq)
{
	struct outcome *outcome = rq->user;
	for (int i = 0; i < 1100; i++) {
		char sql[64];
		snprintf(sql, sizeof(sql), "SELECT %d + $1::int", i);
		struct pg_rows *rows = pg_query(rq, sql, pg_int(1));
		assert_int_equal(pg_value_int(rows, 0), i + 1);
	}
	struct pg_rows *rows = pg_query(rq, "SELECT count(*) FROM pg_prepared_statements");
	outcome->answer = (long)pg_value_int(rows, 0);
}

/* Statements beyond the limit run unprepared. */
static void test_the_number_of_prepared_statements_is_limited(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	spawn(&outcome, run_many_texts);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, 1024);
}

/* Whether a new statement is prepared. */
static void count_prepared(struct request *rq)
{
	struct outcome *outcome = rq->user;
	pg_query(rq, "SELECT 2");
	struct pg_rows *rows = pg_query(rq, "SELECT count(*) FROM pg_prepared_statements "
	                                    "WHERE statement = 'SELECT 2'");
	outcome->answer = (long)pg_value_int(rows, 0);
}

static void lose_session(struct request *rq)
{
	struct pg_rows *none;
	pg_begin(rq);
	pg_query(rq, "SELECT 1");
	pg_query(rq, "DEALLOCATE ALL");
	assert_int_equal(pg_try(rq, &none, NULL, "SELECT 1"), ERR_UNAVAILABLE);
	pg_rollback(rq);
	count_prepared(rq);
}

/* What was prepared is gone, as behind a pooler that shares sessions: no more statements are
 * prepared. */
static void test_another_session_ends_preparing(void **state)
{
	(void)state;
	struct outcome outcome = {.answer = -1};
	spawn(&outcome, lose_session);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, 0);
}

/* The second statement was sent behind the Parse of the first, which fails: no sign of a pooler. */
static void test_a_failed_parse_does_not_end_preparing(void **state)
{
	(void)state;
	struct outcome first = {.sql = "SELECT $1::int FROM missing"}, second = first, count = {0};
	spawn(&first, query_number);
	spawn(&second, query_number);
	fixture_idle(&fixture);
	assert_int_equal(first.code, ERR_INTERNAL);
	assert_int_equal(second.code, ERR_INTERNAL);
	spawn(&count, count_prepared);
	fixture_idle(&fixture);
	assert_int_equal(count.code, ERR_NONE);
	assert_int_equal(count.answer, 1);
}

static void add_in_transaction(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES ($1)", pg_int(1));
	pg_commit(rq);
}

/* Each statement runs although the session has no prepared statement, inside and outside of
 * transactions. */
static void test_statements_run_unprepared(void **state)
{
	struct outcome add = {0},
		       prepared = {
			       .sql = "SELECT count(*) + $1::int FROM pg_prepared_statements",
		       };
	teardown(state);
	open_pool(&(struct pg_settings){.url = server.url,
	                                .is_unprepared = true,
	                                .connections = 1,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	spawn(&add, add_in_transaction);
	fixture_idle(&fixture);
	spawn(&prepared, query_number);
	fixture_idle(&fixture);
	assert_int_equal(add.code, ERR_NONE);
	assert_int_equal(prepared.code, ERR_NONE);
	assert_int_equal(prepared.answer, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_replaced_function_is_called_again, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(
			test_a_function_whose_row_gets_a_column_is_called_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale_plans_are_prepared_again, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_the_number_of_prepared_statements_is_limited,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_session_ends_preparing, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_failed_parse_does_not_end_preparing, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_statements_run_unprepared, setup, teardown),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
