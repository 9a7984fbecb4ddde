#include "pg_suite.h"

#define RAISE "DO $$ BEGIN RAISE NOTICE 'something was written' USING ERRCODE = 'XT001'; END $$"

static int told;

static void on_told(void *context)
{
	assert_ptr_equal(context, &fixture);
	told++;
}

static void on_other(void *context)
{
	assert_ptr_equal(context, &fixture);
	told += 100;
}

static const struct pg_notice NOTICES[] = {{"XT003", on_other}, {"XT001", on_told}, {NULL}};

static int setup(void **state)
{
	(void)state;
	told = 0;
	open_pool(&(struct pg_settings){.url = server.url, .connections = 2});
	pg_on_notices(fixture.worker.pg, NOTICES, &fixture);
	return 0;
}

static void single(struct request *rq)
{
	pg_query(rq, "SELECT 1");
	pg_query(rq, "DO $$ BEGIN RAISE NOTICE 'another' USING ERRCODE = 'XT002'; END $$");
	assert_int_equal(told, 0);
	pg_query(rq, RAISE);
	assert_int_equal(told, 1);
	pg_query(rq, "SELECT 1");
	assert_int_equal(told, 1);
}

static void test_a_statement_tells_when_it_is_committed(void **state)
{
	(void)state;
	fixture_run(&fixture, single, NULL);
}

static void transaction(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, RAISE);
	pg_query(rq, RAISE);
	pg_query(rq, "DO $$ BEGIN RAISE NOTICE 'other' USING ERRCODE = 'XT003'; END $$");
	assert_int_equal(told, 0);
	pg_commit(rq);
	assert_int_equal(told, 101);
}

static void test_a_transaction_tells_once_after_its_commit(void **state)
{
	(void)state;
	fixture_run(&fixture, transaction, NULL);
	assert_int_equal(told, 101);
}

static void lost(struct request *rq)
{
	struct pg_rows *rows;
	pg_begin(rq);
	pg_query(rq, RAISE);
	pg_try(rq, &rows, NULL, "SELECT pg_terminate_backend(pg_backend_pid())");
	assert_int_equal(told, 1);
	pg_rollback(rq);
}

/* Whether a transaction was committed whose connection broke may be unknown. */
static void test_a_lost_connection_tells(void **state)
{
	(void)state;
	fixture_run(&fixture, lost, NULL);
	assert_int_equal(told, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_statement_tells_when_it_is_committed, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_transaction_tells_once_after_its_commit,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_lost_connection_tells, setup, teardown),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
