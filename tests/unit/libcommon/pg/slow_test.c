/* Slow statements: their lines in the log, and their plans. */
#include "capture.h"
#include "observe/metrics.h"
#include "pg_suite.h"

#include <stdlib.h>
#include <string.h>

#define SLOW_MS 20
#define SECRET  271828182

static char output_text[65536];

static int setup(void **state)
{
	(void)state;
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = 2,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS,
	                                .slow_ms = SLOW_MS});
	return 0;
}

static int start_server_with_functions(void **state)
{
	char path[512], text[16384];
	int status = start_server(state);
	snprintf(path, sizeof(path), "%s/libcommon/pg/statement.fn.sql", getenv("SOURCE_ROOT"));
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	size_t length = fread(text, 1, sizeof(text) - 1, file);
	assert_true(feof(file));
	fclose(file);
	text[length] = '\0';
	pg_fixture_run(&server, text);
	return status;
}

/* How often the log of the test has the text. */
static int logged(const char *text)
{
	int count = 0;
	for (const char *at = output_text; (at = strstr(at, text)); at++)
		count++;
	return count;
}

/* Run `fn` and all that comes of it, and keep what it logs. */
static enum err_code run_logged(struct outcome *outcome, request_fn *fn)
{
	struct capture output = capture_start(STDOUT_FILENO);
	spawn(outcome, fn);
	fixture_idle(&fixture);
	capture_stop(&output, output_text, sizeof(output_text));
	return outcome->code;
}

static const char LISTED_SQL[] = PG_READ_MARK
	" /* number_list */ SELECT i FROM generate_series(1, 3) AS i, pg_sleep(.03) WHERE i < $1";

static void test_a_slow_statement_is_logged_with_name_and_plan(void **state)
{
	(void)state;
	struct outcome outcome = {.sql = LISTED_SQL, .number = SECRET};
	assert_int_equal(run_logged(&outcome, query_number), ERR_NONE);
	assert_int_equal(logged("\"statement was slow\",\"request_id\":\"test\""), 1);
	assert_int_equal(logged("\"name\":\"number_list\""), 2);
	assert_int_equal(logged("\"plan of a slow statement\""), 1);
	assert_int_equal(logged("Function Scan on generate_series i"), 1);
	assert_int_equal(logged("(i < $1)"), 1);
	assert_int_equal(logged("271828182"), 0);
	/* The name is not planned again so soon. */
	outcome = (struct outcome){.sql = LISTED_SQL, .number = 2};
	assert_int_equal(run_logged(&outcome, query_number), ERR_NONE);
	assert_int_equal(logged("\"statement was slow\""), 1);
	assert_int_equal(logged("\"plan"), 0);
	struct arena *arena = arena_new();
	const char *metrics = metrics_text(arena);
	assert_non_null(
		strstr(metrics, "expops_pg_slow_statements_total{statement=\"number_list\"} 2\n"));
	arena_free(arena);
}

static const char STORED_SQL[] =
	"/* number_store */ INSERT INTO stored SELECT $1::int FROM pg_sleep(.03) RETURNING 1";

static void test_the_plan_of_a_write_does_not_write(void **state)
{
	(void)state;
	pg_fixture_run(&server, "CREATE TABLE stored (number int)");
	struct outcome outcome = {.sql = STORED_SQL, .number = 5};
	assert_int_equal(run_logged(&outcome, query_number), ERR_NONE);
	assert_int_equal(logged("Insert on stored"), 1);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM stored"), 1);
}

static void query_fast(struct request *rq)
{
	pg_query(rq, "/* number_one */ SELECT 1");
}

static void test_a_fast_statement_behind_a_slow_one_is_not_slow(void **state)
{
	(void)state;
	struct outcome slow = {.sql = "/* number_wait */ SELECT 1 FROM pg_sleep(.03) WHERE $1 = 1"};
	struct outcome fast = {0};
	slow.number = 1;
	pg_pool_free(fixture.worker.pg);
	fixture.worker.pg = pg_pool_new(&fixture.worker.loop,
	                                &(struct pg_settings){.url = server.url,
	                                                      .connections = 1,
	                                                      .pool_wait_ms = FIXTURE_TIMEOUT_MS,
	                                                      .slow_ms = SLOW_MS});
	spawn(&slow, query_number);
	assert_int_equal(run_logged(&fast, query_fast), ERR_NONE);
	assert_int_equal(slow.code, ERR_NONE);
	assert_true(logged("number_wait") >= 1);
	assert_int_equal(logged("number_one"), 0);
}

static void wait_in_transaction(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "SELECT pg_sleep(.03)");
	pg_commit(rq);
}

static void test_a_text_without_a_name_has_no_plan(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	assert_int_equal(run_logged(&outcome, wait_in_transaction), ERR_NONE);
	assert_int_equal(logged("\"name\":\"SELECT\""), 1);
	assert_int_equal(logged("plan of"), 0);
}

static void run_refused(struct request *rq)
{
	pg_query(rq, "/* number_refuse */ SELECT 1 / (1 - count(*)) FROM pg_sleep(.03)");
}

static void test_a_slow_failure_has_its_sqlstate(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	assert_int_equal(run_logged(&outcome, run_refused), ERR_INVALID);
	assert_int_equal(logged("\"sqlstate\":\"22012\""), 1);
	assert_int_equal(logged("Aggregate"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_slow_statement_is_logged_with_name_and_plan,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_plan_of_a_write_does_not_write, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_fast_statement_behind_a_slow_one_is_not_slow,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_text_without_a_name_has_no_plan, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_slow_failure_has_its_sqlstate, setup,
	                                        teardown),
	};
	return cmocka_run_group_tests(tests, start_server_with_functions, stop_server);
}
