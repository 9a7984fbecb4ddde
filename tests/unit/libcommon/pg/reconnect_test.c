/* Statements whose connections are lost: none is executed twice, and every reported outcome is
 * true. */
#include "pg/target.h"
#include "pg_suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int start_with_table(void **state)
{
	start_server(state);
	pg_fixture_run(&server, "CREATE TABLE t (a int, b int)");
	return 0;
}

static int setup(void **state)
{
	(void)state;
	if (server.pid == 0)
		pg_fixture_start(&server);
	pg_fixture_run(&server, "TRUNCATE t");
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = 3,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	return 0;
}

/* Run the loop until `count` backends are in the wait event. */
static void until_waiting(const char *event, long count)
{
	char sql[200];
	snprintf(sql, sizeof(sql),
	         "SELECT count(*) FROM pg_stat_activity WHERE wait_event = '%s' AND state = "
	         "'active'",
	         event);
	for (int i = 0; pg_fixture_run(&server, sql) < count; i++) {
		assert_true(i < 20000);
		uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	}
}

static void until_down(void)
{
	fixture_wait_start(&fixture);
	while (pg_pool_is_ready(fixture.worker.pg))
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

static void until_up(void)
{
	fixture_wait_start(&fixture);
	while (!pg_pool_is_ready(fixture.worker.pg))
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

/* The server crashes during a write and a read. The write is uncertain; the read and a later write
 * run on the restarted server. */
static void test_a_crash_makes_a_write_uncertain(void **state)
{
	(void)state;
	struct outcome write = {.sql = "INSERT INTO t SELECT $1 FROM pg_sleep(600)"};
	struct outcome read = {.sql = "/* read */ SELECT 7 FROM pg_sleep($1) WHERE EXISTS (SELECT "
	                              "FROM t WHERE a = 99) OR pg_sleep(600) IS NULL"};
	struct outcome late = {.sql = "INSERT INTO t VALUES ($1) RETURNING a", .number = 99};
	spawn(&write, query_number);
	until_waiting("PgSleep", 1);
	spawn(&read, query_number);
	uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	pg_fixture_crash(&server);
	fixture_until(&fixture, &write.is_over);
	assert_int_equal(write.code, ERR_UNCERTAIN);
	until_down();
	assert_false(read.is_over);
	pg_fixture_start(&server);
	pg_fixture_run(&server, "INSERT INTO t VALUES (99)");
	spawn(&late, query_number);
	fixture_idle(&fixture);
	assert_int_equal(read.code, ERR_NONE);
	assert_int_equal(read.answer, 7);
	assert_int_equal(late.answer, 99);
	assert_true(pg_pool_is_ready(fixture.worker.pg));
}

/* A fast shutdown is announced: what it interrupts has not run, and is retried on the restarted
 * server. */
static void test_statements_survive_an_orderly_restart(void **state)
{
	(void)state;
	struct outcome writes[20];
	int uncertain = 0;
	pg_fixture_run(&server, "CREATE TABLE IF NOT EXISTS gate (is_open bool); TRUNCATE gate");
	for (int i = 0; i < 20; i++) {
		writes[i] = (struct outcome){
			.sql = "INSERT INTO t SELECT $1::int WHERE EXISTS (SELECT FROM gate) OR "
			       "pg_sleep(600) IS NULL RETURNING a",
			.number = i + 1};
		spawn(&writes[i], query_number);
	}
	until_waiting("PgSleep", 1);
	pg_fixture_stop(&server);
	pg_fixture_start(&server);
	pg_fixture_run(&server, "INSERT INTO gate VALUES (true)");
	fixture_idle(&fixture);
	for (int i = 0; i < 20; i++) {
		uncertain += writes[i].code == ERR_UNCERTAIN;
		assert_int_equal(writes[i].answer, writes[i].code == ERR_NONE ? i + 1 : 0);
	}
	assert_true(uncertain < 20);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t"), 20 - uncertain);
}

static void commit_slowly(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "INSERT INTO slow VALUES (1)");
	pg_commit(rq);
}

static void test_a_crash_makes_a_commit_uncertain(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	pg_fixture_run(
		&server,
		"CREATE TABLE slow (a int); CREATE FUNCTION doze() RETURNS trigger AS $$ BEGIN "
		"PERFORM pg_sleep(600); RETURN NULL; END $$ LANGUAGE plpgsql; CREATE CONSTRAINT "
		"TRIGGER doze AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
		"EXECUTE FUNCTION doze()");
	spawn(&outcome, commit_slowly);
	until_waiting("PgSleep", 1);
	pg_fixture_crash(&server);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_UNCERTAIN);
}

static bool may_go_on;

static void outlive_the_connection(struct request *rq)
{
	struct outcome *outcome = rq->user;
	struct pg_rows *rows;
	pg_begin(rq);
	pg_query(rq, "INSERT INTO t VALUES (1)");
	outcome->answer = 1;
	while (!may_go_on)
		request_wait(rq);
	outcome->answer = pg_try(rq, &rows, NULL, "INSERT INTO t VALUES (2)");
	pg_commit(rq);
}

/* The server rolls back a transaction whose connection broke, so the outcome is certain. */
static void test_a_lost_connection_undoes_its_transaction(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	may_go_on = false;
	struct request *rq =
		fixture_spawn(&fixture, outlive_the_connection, note_outcome, &outcome);
	while (outcome.answer == 0)
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	pg_fixture_run(&server,
	               "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = "
	               "'idle in transaction'");
	until_down();
	may_go_on = true;
	fiber_wake(rq->fiber);
	fixture_idle(&fixture);
	assert_int_equal(outcome.answer, ERR_UNAVAILABLE);
	assert_int_equal(outcome.code, ERR_UNAVAILABLE);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t"), 0);
}

#define WRITES 2000

/* Connections are cut repeatedly under many writes. A write that succeeded has run once, one that
 * failed has not run, and an uncertain one has run at most once. */
static void test_outcomes_are_correct_while_connections_are_cut(void **state)
{
	(void)state;
	struct outcome *writes = calloc(WRITES, sizeof(*writes));
	int uncertain = 0, cuts = 0;
	for (int i = 0; i < WRITES; i++) {
		writes[i] =
			(struct outcome){.sql = "INSERT INTO t SELECT $1::int, pg_backend_pid() "
		                                "FROM pg_sleep(0.0005) RETURNING a",
		                         .number = i + 1};
		spawn(&writes[i], query_number);
	}
	while (request_list_count(fixture.worker.requests) > 0) {
		long before = (long)request_list_count(fixture.worker.requests);
		while ((long)request_list_count(fixture.worker.requests) > MAX_OF(before - 150, 0))
			uv_run(&fixture.worker.loop, UV_RUN_ONCE);
		cuts += (int)pg_fixture_run(
			&server, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
				 "WHERE application_name = 'expops'");
	}
	assert_true(cuts > 5);
	for (int i = 0; i < WRITES; i++) {
		char sql[100];
		if (i % 10 != 0 && writes[i].code == ERR_NONE)
			continue;
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM t WHERE a = %d", i + 1);
		long rows = pg_fixture_run(&server, sql);
		uncertain += writes[i].code == ERR_UNCERTAIN;
		assert_true(writes[i].code != ERR_NONE || rows == 1);
		assert_true(writes[i].code != ERR_UNAVAILABLE || rows == 0);
		assert_true(writes[i].code != ERR_UNCERTAIN || rows <= 1);
	}
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) - count(DISTINCT a) FROM t"), 0);
	assert_true(pg_fixture_run(&server, "SELECT count(DISTINCT b) FROM t") > 5);
	assert_true(uncertain < WRITES / 2);
	free(writes);
}

static void test_the_server_may_start_after_the_process(void **state)
{
	struct outcome early = {.sql = "SELECT $1::int", .number = 4};
	teardown(state);
	pg_fixture_crash(&server);
	open_pool(&(struct pg_settings){.url = server.url, .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	spawn(&early, query_number);
	assert_false(pg_pool_is_ready(fixture.worker.pg));
	pg_fixture_start(&server);
	fixture_idle(&fixture);
	assert_int_equal(early.answer, 4);
	assert_true(pg_pool_is_ready(fixture.worker.pg));
}

static void begin_only(struct request *rq)
{
	pg_begin(rq);
	pg_commit(rq);
}

static void test_the_wait_for_the_server_is_limited(void **state)
{
	struct outcome single = {.sql = "SELECT $1::int"}, begin = {0};
	teardown(state);
	pg_fixture_crash(&server);
	open_pool(&(struct pg_settings){.url = server.tcp_url, .pool_wait_ms = 150});
	spawn(&single, query_number);
	spawn(&begin, begin_only);
	fixture_idle(&fixture);
	assert_int_equal(single.code, ERR_UNAVAILABLE);
	assert_int_equal(begin.code, ERR_UNAVAILABLE);
}

/* A port whose other end accepts connections and never writes. */
static uint16_t silent_port(int *ret_fd)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	*ret_fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(*ret_fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(*ret_fd, 10), 0);
	assert_int_equal(getsockname(*ret_fd, (struct sockaddr *)&address, &length), 0);
	return ntohs(address.sin_port);
}

static void test_a_silent_server_is_unavailable(void **state)
{
	struct outcome single = {.sql = "SELECT $1::int"};
	char url[100];
	int fd;
	snprintf(url, sizeof(url), "postgresql://x@127.0.0.1:%u/x", silent_port(&fd));
	teardown(state);
	open_pool(
		&(struct pg_settings){.url = url, .pool_wait_ms = 400, .connect_timeout_ms = 100});
	spawn(&single, query_number);
	fixture_idle(&fixture);
	assert_int_equal(single.code, ERR_UNAVAILABLE);
	assert_false(pg_pool_is_ready(fixture.worker.pg));
	close(fd);
}

/* The first host of a list has vanished: the second one is connected to, by the pool and at the
 * start. */
static void test_the_next_host_of_a_list_is_tried(void **state)
{
	struct outcome single = {.sql = "SELECT $1::int", .number = 5};
	char url[200];
	int fd;
	snprintf(
		url, sizeof(url),
		"postgresql:///postgres?user=expops&connect_timeout=1&host=127.0.0.1,%s&port=%u,%u",
		server.folder, silent_port(&fd), server.port);
	teardown(state);
	open_pool(&(struct pg_settings){.url = url,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS,
	                                .connect_timeout_ms = 100});
	spawn(&single, query_number);
	fixture_idle(&fixture);
	assert_int_equal(single.answer, 5);
	struct pg_target *target = pg_target_new(url);
	PGconn *pg = pg_target_connect_now(target);
	assert_int_equal(PQstatus(pg), CONNECTION_OK);
	PQfinish(pg);
	pg_target_free(target);
	close(fd);
}

#define PID_SQL "SELECT pg_backend_pid() + 0 * $1::int"

/* Wait until `outcome` has the process id of its backend, and stop that process. */
static pid_t freeze(struct outcome *outcome)
{
	fixture_idle(&fixture);
	assert_int_equal(outcome->code, ERR_NONE);
	assert_int_equal(kill((pid_t)outcome->answer, SIGSTOP), 0);
	return (pid_t)outcome->answer;
}

/* A stopped server gets no more statements: later ones fail with ERR_UNAVAILABLE. The one that was
 * sent before is answered when the server continues. */
static void test_a_stopped_server_gets_no_more_statements(void **state)
{
	struct outcome who = {.sql = PID_SQL};
	struct outcome early = {.sql = "INSERT INTO t VALUES ($1) RETURNING a", .number = 1};
	struct outcome late = {.sql = "INSERT INTO t VALUES ($1) RETURNING a", .number = 2};
	struct outcome begin = {0};
	teardown(state);
	open_pool(&(struct pg_settings){
		.url = server.url, .connections = 1, .pool_wait_ms = 2000, .stuck_ms = 20});
	until_up();
	spawn(&who, query_number);
	pid_t frozen = freeze(&who);
	spawn(&early, query_number);
	until_down();
	spawn(&late, query_number);
	spawn(&begin, begin_only);
	fixture_until(&fixture, &late.is_over);
	fixture_until(&fixture, &begin.is_over);
	assert_int_equal(late.code, ERR_UNAVAILABLE);
	assert_int_equal(begin.code, ERR_UNAVAILABLE);
	assert_false(early.is_over);

	assert_int_equal(kill(frozen, SIGCONT), 0);
	fixture_idle(&fixture);
	assert_int_equal(early.answer, 1);
	assert_true(pg_pool_is_ready(fixture.worker.pg));
	assert_int_equal(pg_fixture_run(&server, "SELECT sum(a) FROM t"), 1);
}

/* A pool that runs no statements finds out within seconds that its server does not answer, says so,
 * and recovers when it answers again. */
static void test_an_idle_pool_notices_a_silent_server(void **state)
{
	struct outcome who = {.sql = PID_SQL};
	(void)state;
	until_up();
	spawn(&who, query_number);
	pid_t frozen = freeze(&who);
	until_down();
	assert_string_equal(pg_pool_fault(fixture.worker.pg), "Postgres does not answer");
	assert_int_equal(kill(frozen, SIGCONT), 0);
	until_up();
}

static void test_another_connection_replaces_a_stuck_one(void **state)
{
	struct outcome who = {.sql = PID_SQL}, late[20];
	struct outcome early = {.sql = "INSERT INTO t VALUES ($1) RETURNING a", .number = 1};
	teardown(state);
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = 2,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS,
	                                .stuck_ms = 20});
	spawn(&who, query_number);
	pid_t frozen = freeze(&who);
	spawn(&early, query_number);
	until_down();
	for (int i = 0; i < 20; i++) {
		late[i] = (struct outcome){.sql = PID_SQL};
		spawn(&late[i], query_number);
	}
	for (int i = 0; i < 20; i++) {
		fixture_until(&fixture, &late[i].is_over);
		assert_int_equal(late[i].code, ERR_NONE);
		assert_int_not_equal(late[i].answer, frozen);
	}
	assert_true(pg_pool_is_ready(fixture.worker.pg));
	assert_false(early.is_over);
	assert_int_equal(kill(frozen, SIGCONT), 0);
	fixture_idle(&fixture);
	assert_int_equal(early.answer, 1);
}

static void write_after_refusal(struct request *rq)
{
	struct outcome *outcome = rq->user;
	struct pg_rows *rows;
	pg_query(rq, "SET default_transaction_read_only = on");
	pg_query(rq, "INSERT INTO t VALUES (1)");
	pg_query(rq, "SET default_transaction_read_only = on");
	pg_begin(rq);
	outcome->answer = pg_try(rq, &rows, NULL, "INSERT INTO t VALUES (2)");
	pg_rollback(rq);
	pg_query(rq, "INSERT INTO t VALUES (4)");
}

/* The connection to a server that has become read-only is closed, and the write is sent on the next
 * one. */
static void test_connections_to_a_read_only_server_are_closed(void **state)
{
	struct outcome outcome = {0};
	teardown(state);
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = 1,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	spawn(&outcome, write_after_refusal);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, ERR_UNAVAILABLE);
	assert_int_equal(pg_fixture_run(&server, "SELECT sum(a) FROM t"), 5);
}

static void prepare_some(struct request *rq)
{
	struct outcome *outcome = rq->user;
	for (int i = 0; i < 5; i++) {
		char sql[64];
		snprintf(sql, sizeof(sql), "SELECT $1::int + %d", i);
		struct pg_rows *rows = pg_query(rq, sql, pg_int(outcome->number));
		assert_int_equal(pg_value_int(rows, 0), outcome->number + i);
	}
	outcome->answer++;
}

static void test_statements_are_prepared_again_after_reconnecting(void **state)
{
	(void)state;
	struct outcome outcome = {.number = 3};
	for (int i = 0; i < 4; i++) {
		spawn(&outcome, prepare_some);
		fixture_idle(&fixture);
		pg_fixture_run(&server,
		               "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
		               "application_name = 'expops'");
	}
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, 4);
}

/* The roles `present` and `later`; the second one does not exist. */
static int setup_with_two_logins(void **state)
{
	(void)state;
	char urls[400];
	if (server.pid == 0)
		pg_fixture_start(&server);
	pg_fixture_run(&server, "CREATE ROLE present LOGIN");
	snprintf(urls, sizeof(urls),
	         "postgresql:///postgres?host=%s&port=%u&user=later "
	         "postgresql:///postgres?host=%s&port=%u&user=present",
	         server.folder, server.port, server.folder, server.port);
	open_pool(&(struct pg_settings){.url = urls,
	                                .connections = 3,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	return 0;
}

static void assert_user_is(const char *name)
{
	struct outcome outcome = {.sql = "SELECT $1::int WHERE current_user = 'present'",
	                          .number = 1};
	spawn(&outcome, query_number);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
	assert_int_equal(outcome.answer, strcmp(name, "present") == 0);
}

/* One of the two is refused, then the other, then the first again: no statement fails. */
static void test_whichever_login_the_server_takes(void **state)
{
	static const char *const TURNS[][2] = {
		{"CREATE ROLE later LOGIN; ALTER ROLE present NOLOGIN", "later"},
		{"ALTER ROLE later NOLOGIN; ALTER ROLE present LOGIN", "present"},
	};
	(void)state;
	assert_user_is("present");
	for (size_t i = 0; i < ARRAY_LEN(TURNS); i++) {
		pg_fixture_run(&server, TURNS[i][0]);
		pg_fixture_run(&server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
		                        "WHERE usename IN ('present', 'later')");
		until_down();
		assert_user_is(TURNS[i][1]);
	}
	pg_fixture_run(&server, "ALTER ROLE present NOLOGIN");
	pg_fixture_run(&server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
	                        "usename = 'present'");
	until_down();
	pg_fixture_run(&server, "ALTER ROLE later LOGIN");
	until_up();
	assert_user_is("later");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whichever_login_the_server_takes,
	                                        setup_with_two_logins, teardown),
		cmocka_unit_test_setup_teardown(test_a_crash_makes_a_write_uncertain, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_statements_survive_an_orderly_restart, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_crash_makes_a_commit_uncertain, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_lost_connection_undoes_its_transaction,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_outcomes_are_correct_while_connections_are_cut,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_server_may_start_after_the_process, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_the_wait_for_the_server_is_limited, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_silent_server_is_unavailable, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_the_next_host_of_a_list_is_tried, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_connections_to_a_read_only_server_are_closed,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_stopped_server_gets_no_more_statements,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_idle_pool_notices_a_silent_server, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_another_connection_replaces_a_stuck_one, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(
			test_statements_are_prepared_again_after_reconnecting, setup, teardown),
	};
	return cmocka_run_group_tests(tests, start_with_table, stop_server);
}
