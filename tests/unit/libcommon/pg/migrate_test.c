#include "pg/migrate.h"

#include "crypto/crypto.h"
#include "pg_server.h"

#include <libpq-fe.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct migration TWO[] = {
	{"0001_first",
         "CREATE TABLE first (id uuid DEFAULT uuid_v7(), a int); INSERT INTO first (a) "
         "VALUES (1)"},
	{"0002_second", "CREATE TABLE second (a int); INSERT INTO second SELECT a FROM first"},
	{NULL},
};

/* Without the common migrations. */
#define APPLIED "SELECT count(*) FROM shop.migration WHERE name NOT LIKE 'common_%'"

static enum err_code migrate(const char *url, const struct migration *migrations)
{
	return migrate_run(url, "shop", &(struct schema){.owner = "shop", .migrations = migrations},
	                   NULL);
}

static int setup(void **state)
{
	(void)state;
	pg_fixture_run(&server, "SET client_min_messages = error; "
	                        "DROP SCHEMA IF EXISTS shop CASCADE");
	return 0;
}

static void test_migrations_run_once_and_in_order(void **state)
{
	(void)state;
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, APPLIED), 2);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.second"), 1);
	/* A second run changes nothing. */
	long applied =
		pg_fixture_run(&server, "SELECT sum(xmin::text::bigint) FROM shop.migration");
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server,
	                                "SELECT sum(xmin::text::bigint) FROM shop.migration"),
	                 applied);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.first"), 1);
	/* Other schemas are unchanged. */
	assert_int_equal(pg_fixture_run(&server,
	                                "SELECT count(*) FROM pg_class WHERE relnamespace = "
	                                "'public'::regnamespace"),
	                 0);
}

/* A newer release adds its migrations, in a schema that the role owns but did not create. */
static void test_a_newer_release_adds_its_migrations(void **state)
{
	(void)state;
	const struct migration ONE[] = {{TWO[0].name, TWO[0].sql}, {NULL}};
	char url[200];
	pg_fixture_run(&server, "SET client_min_messages = error; DROP ROLE IF EXISTS clerk; "
	                        "CREATE ROLE clerk LOGIN; "
	                        "CREATE SCHEMA shop AUTHORIZATION clerk");
	snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&port=%u&user=clerk",
	         server.folder, server.port);
	assert_int_equal(migrate(url, ONE), ERR_NONE);
	assert_int_equal(migrate(url, TWO), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.second"), 1);
	/* The older release still starts. */
	assert_int_equal(migrate(url, ONE), ERR_NONE);
	pg_fixture_run(&server, "SET client_min_messages = error; DROP SCHEMA shop CASCADE; "
	                        "DROP ROLE clerk");
}

static void test_edited_and_unknown_migrations_are_refused(void **state)
{
	(void)state;
	const struct migration EDITED[] = {{"0001_first", "CREATE TABLE first ()"},
	                                   {TWO[1].name, TWO[1].sql},
	                                   {NULL}};
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(migrate(server.url, EDITED), ERR_CONFLICT);
	const struct migration RENAMED[] = {{"0001_other", TWO[0].sql},
	                                    {TWO[1].name, TWO[1].sql},
	                                    {NULL}};
	assert_int_equal(migrate(server.url, RENAMED), ERR_CONFLICT);
	assert_int_equal(pg_fixture_run(&server, APPLIED), 2);
}

/* Databases that were made with the first text of a migration and releases that have it accept the
 * edited text, and the other way round. */
static void test_an_edited_migration_stands_for_its_original(void **state)
{
	(void)state;
	char original[SHA256_HEX_LEN + 1];
	sha256_hex(TWO[1].sql, strlen(TWO[1].sql), original);
	const struct migration EDITED[] = {
		{TWO[0].name, TWO[0].sql},
		{TWO[1].name, "CREATE TABLE second (a bigint); INSERT INTO second VALUES (1), (2)",
	         original},
		{NULL}};
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(migrate(server.url, EDITED), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.second"), 1);
	setup(NULL);
	assert_int_equal(migrate(server.url, EDITED), ERR_NONE);
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.second"), 2);
}

/* A failed migration is rolled back, with all that were pending: nobody sees a schema between two
 * versions. */
static void test_a_failed_migration_is_rolled_back(void **state)
{
	(void)state;
	const struct migration FAILING[] = {{TWO[0].name, TWO[0].sql},
	                                    {"0002_second",
	                                     "CREATE TABLE second (a int); SELECT 1/0"},
	                                    {NULL}};
	assert_int_equal(migrate(server.url, FAILING), ERR_INTERNAL);
	assert_int_equal(pg_fixture_run(&server, APPLIED), 0);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(to_regclass('shop.first'))"), 0);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(to_regclass('shop.second'))"), 0);
	const struct migration COMMITTING[] = {{TWO[0].name, TWO[0].sql},
	                                       {"0002_second",
	                                        "CREATE TABLE second (a int); COMMIT"},
	                                       {NULL}};
	assert_int_equal(migrate(server.url, COMMITTING), ERR_CONFLICT);
}

/* ---- functions ---- */

static enum err_code install(int version, const char *first, const char *second)
{
	const struct function_file files[] = {{"a.fn.sql", first}, {"b.fn.sql", second}, {NULL}};
	return migrate_run(server.url, "shop", &(struct schema){"shop", TWO, files, version}, NULL);
}

#define RETURNS(n)                                                               \
	"CREATE OR REPLACE FUNCTION price() RETURNS int LANGUAGE sql RETURN " #n \
	" + (SELECT count(*) FROM second)"
#define DOUBLES "CREATE OR REPLACE FUNCTION twice() RETURNS int LANGUAGE sql RETURN 2 * price()"

/* Each uses what stands before it: the tables, and the functions of earlier files. */
static void test_functions_are_installed_when_their_version_rises(void **state)
{
	(void)state;
	assert_int_equal(install(1, RETURNS(10), DOUBLES), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT shop.twice()"), 22);
	assert_int_equal(install(1, RETURNS(20), DOUBLES), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT shop.twice()"), 22);
	assert_int_equal(install(2, RETURNS(30), DOUBLES), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT shop.twice()"), 62);
	/* A process of the previous release starts again. */
	assert_int_equal(install(1, RETURNS(10), DOUBLES), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT shop.twice()"), 62);
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
}

static void test_functions_that_fail_leave_the_former_ones(void **state)
{
	(void)state;
	assert_int_equal(install(1, RETURNS(10), DOUBLES), ERR_NONE);
	assert_int_equal(install(2, RETURNS(20),
	                         "CREATE OR REPLACE FUNCTION twice() RETURNS text "
	                         "LANGUAGE sql RETURN ''"),
	                 ERR_INTERNAL);
	assert_int_equal(pg_fixture_run(&server, "SELECT shop.twice()"), 22);
	assert_int_equal(install(2, RETURNS(20), DOUBLES), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT shop.twice()"), 42);
}

#define COUNTS                                                                \
	"CREATE OR REPLACE FUNCTION more() RETURNS trigger LANGUAGE plpgsql " \
	"AS $$ BEGIN NEW.a := NEW.a + 1; RETURN NEW; END $$;\n"
#define TRIGGER_IF(condition)                                                     \
	"CREATE OR REPLACE TRIGGER more BEFORE INSERT OR UPDATE OF a ON second\n" \
	"FOR EACH ROW WHEN (" condition ") EXECUTE FUNCTION more();\n"

/* A trigger that is there is not made again, for which the table would be locked. */
static void test_a_trigger_is_made_again_when_it_differs(void **state)
{
	(void)state;
	assert_int_equal(install(1, COUNTS, TRIGGER_IF("NEW.a > 10 OR NEW.a IS NULL")), ERR_NONE);
	PGconn *writer = PQconnectdb(server.url);
	PQclear(PQexec(writer, "BEGIN; INSERT INTO shop.second VALUES (20)"));
	assert_int_equal(install(2, COUNTS, TRIGGER_IF("NEW.a > 10 OR NEW.a IS NULL")), ERR_NONE);
	assert_int_equal(install(3, COUNTS, TRIGGER_IF("NEW.a > 50")), ERR_UNAVAILABLE);
	PQclear(PQexec(writer, "COMMIT"));
	PQfinish(writer);
	assert_int_equal(install(3, COUNTS, TRIGGER_IF("NEW.a > 50")), ERR_NONE);
	pg_fixture_run(&server, "INSERT INTO shop.second VALUES (40), (60)");
	assert_int_equal(pg_fixture_run(&server, "SELECT sum(a) FROM shop.second WHERE a > 1"),
	                 21 + 40 + 61);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(to_regclass('shop.trigger_probe'))"),
	                 0);
}

/* ---- one migration in place of several ---- */

static const struct migration SQUASHED[] = {
	{"0001_schema",
         "CREATE TABLE first (id uuid DEFAULT uuid_v7(), a int); CREATE TABLE second (a int)", NULL,
         "0002_second 0001_first "},
	{"0003_third", "CREATE TABLE third ()"},
	{NULL},
};

static void test_a_new_schema_takes_the_migration_that_replaces_others(void **state)
{
	(void)state;
	assert_int_equal(migrate(server.url, SQUASHED), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, APPLIED), 2);
	assert_int_equal(migrate(server.url, SQUASHED), ERR_NONE);
}

static void test_a_schema_with_the_replaced_migrations_keeps_them(void **state)
{
	(void)state;
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(migrate(server.url, SQUASHED), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, APPLIED), 3);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.first"), 1);
	/* A process of the previous release starts again. */
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
}

static void test_a_schema_with_some_of_the_replaced_migrations_is_too_old(void **state)
{
	(void)state;
	const struct migration ONE[] = {{TWO[0].name, TWO[0].sql}, {NULL}};
	assert_int_equal(migrate(server.url, ONE), ERR_NONE);
	assert_int_equal(migrate(server.url, SQUASHED), ERR_CONFLICT);
	assert_int_equal(pg_fixture_run(&server, APPLIED), 1);
}

static void *run_two(void *arg)
{
	*(enum err_code *)arg = migrate(server.url, TWO);
	return NULL;
}

static void test_concurrent_runs_apply_once(void **state)
{
	(void)state;
	pthread_t threads[4];
	enum err_code codes[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_two, &codes[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(codes[i], ERR_NONE);
	}
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.first"), 1);
	assert_int_equal(pg_fixture_run(&server, APPLIED), 2);
}

static void *run_altering(void *arg)
{
	const struct migration altering[] = {
		TWO[0],
		TWO[1],
		{"0003_third",
	         "ALTER TABLE first ADD COLUMN b int;\nALTER TABLE second ADD COLUMN b int;"},
		{NULL},
	};
	*(enum err_code *)arg = migrate(server.url, altering);
	return NULL;
}

#define WAITS \
	"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'shop.second'::regclass"

/* A transaction that holds what the migration wants, and then wants what the migration holds, goes
 * on: neither is ended as part of a deadlock. */
static void test_transactions_go_on_while_a_migration_waits(void **state)
{
	(void)state;
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	PGconn *writer = PQconnectdb(server.url);
	PQclear(PQexec(writer, "BEGIN; INSERT INTO shop.second VALUES (2)"));
	pthread_t thread;
	enum err_code code;
	assert_int_equal(pthread_create(&thread, NULL, run_altering, &code), 0);
	while (pg_fixture_run(&server, WAITS) == 0)
		;
	PGresult *result = PQexec(writer, "INSERT INTO shop.first (a) VALUES (2); COMMIT");
	assert_string_equal(PQcmdStatus(result), "COMMIT");
	PQclear(result);
	PQfinish(writer);
	pthread_join(thread, NULL);
	assert_int_equal(code, ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(b) + count(*) FROM shop.second"), 2);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(b) + count(*) FROM shop.first"), 2);
}

/* What is locked for long is waited for elsewhere: the caller comes again. */
static void test_a_migration_gives_up_where_a_table_stays_locked(void **state)
{
	(void)state;
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	PGconn *writer = PQconnectdb(server.url);
	PQclear(PQexec(writer, "BEGIN; INSERT INTO shop.second VALUES (2)"));
	enum err_code code;
	run_altering(&code);
	assert_int_equal(code, ERR_UNAVAILABLE);
	PQfinish(writer);
	run_altering(&code);
	assert_int_equal(code, ERR_NONE);
}

/* The process is killed during a migration; the next run applies it. */
static void test_a_killed_run_can_be_repeated(void **state)
{
	(void)state;
	const struct migration SLOW[] = {{TWO[0].name, TWO[0].sql},
	                                 {"0002_second",
	                                  "CREATE TABLE second (a int); SELECT pg_sleep(600)"},
	                                 {NULL}};
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit((int)migrate(server.url, SLOW));
	while (pg_fixture_run(&server, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = "
	                               "'PgSleep'") == 0)
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM shop.second"), 1);
}

static void test_bad_url_and_unreachable_server(void **state)
{
	(void)state;
	assert_int_equal(migrate("postgresql:///x?host=/nowhere", TWO), ERR_UNAVAILABLE);
	assert_int_equal(migrate("nonsense", TWO), ERR_INVALID);
}

static long ask(const char *sql)
{
	char text[600];
	snprintf(text, sizeof(text), "SET search_path = shop; %s", sql);
	return pg_fixture_run(&server, text);
}

static void test_uuid_v7(void **state)
{
	(void)state;
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	/* The version and variant bits, the time, and ascending ids for rows that are made one
	 * after another. */
	assert_int_equal(ask("SELECT count(*) FROM generate_series(1, 1000), uuid_v7() AS id WHERE "
	                     "id::text !~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]'"),
	                 0);
	assert_true(
		ask("SELECT abs(extract(epoch FROM now()) * 1000 - "
	            "('x0000' || left(replace(uuid_v7()::text, '-', ''), 12))::bit(64)::bigint)") <
		10000);
	assert_int_equal(
		ask("SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY i) AS before FROM "
	            "(SELECT i, uuid_v7() AS id, pg_sleep(0.00001) FROM generate_series(1, 200) AS "
	            "i) "
	            "AS made) AS pairs WHERE id <= before"),
		0);
	assert_int_equal(ask("SELECT count(DISTINCT uuid_v7()) FROM generate_series(1, 10000)"),
	                 10000);
}

#define ACCOUNT "'01970000-0000-7000-8000-000000000001'"

static void test_task_functions(void **state)
{
	(void)state;
	assert_int_equal(migrate(server.url, TWO), ERR_NONE);
	assert_int_equal(
		ask("SELECT (task_json(task_start('refresh', " ACCOUNT ", '{\"n\": 1}'))::jsonb - "
	            "'{task_id,created_at}'::text[] = '{\"kind\": \"refresh\", \"status\": "
	            "\"pending\", \"progress\": 0, \"message\": null, \"result\": null, \"error\": "
	            "null, \"attempts\": 0, \"started_at\": null, \"finished_at\": null}')::int"),
		1);
	/* task_start() runs once, although task_json() uses its argument many times. */
	assert_int_equal(ask("SELECT count(*) FROM task"), 1);
	assert_int_equal(ask("SELECT count(*) FROM task WHERE (task_json(task)->>'created_at') ~ "
	                     "'^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$'"),
	                 1);
	assert_int_equal(ask("SELECT (time_json('2026-01-31 10:30:00.1239+01') = "
	                     "'2026-01-31T09:30:00.123Z')::int"),
	                 1);
	assert_int_equal(ask("SET expops.request_id = 'r1'; SELECT event_emit('events.shop', "
	                     "'sold', " ACCOUNT
	                     ", '{\"a\": 1}'); SELECT count(*) FROM outbox WHERE type = 'sold' "
	                     "AND request_id = 'r1'"),
	                 1);
	assert_int_equal(ask("SELECT event_emit('events.shop', 'got', NULL, '{}', 'r2'); SELECT "
	                     "count(*) FROM outbox WHERE type = 'got' AND request_id = 'r2' AND "
	                     "account_id IS NULL"),
	                 1);
	/* The functions use their own schema, whatever the caller's search_path. */
	assert_int_equal(pg_fixture_run(&server,
	                                "SELECT (shop.task_start('other', NULL, NULL)).attempts"),
	                 0);
	assert_int_equal(ask("SELECT count(*) FROM task WHERE kind = 'other' AND input = '{}'"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_migrations_run_once_and_in_order, setup),
		cmocka_unit_test_setup(test_a_newer_release_adds_its_migrations, setup),
		cmocka_unit_test_setup(test_edited_and_unknown_migrations_are_refused, setup),
		cmocka_unit_test_setup(test_an_edited_migration_stands_for_its_original, setup),
		cmocka_unit_test_setup(test_a_failed_migration_is_rolled_back, setup),
		cmocka_unit_test_setup(test_functions_are_installed_when_their_version_rises,
	                               setup),
		cmocka_unit_test_setup(test_functions_that_fail_leave_the_former_ones, setup),
		cmocka_unit_test_setup(test_a_trigger_is_made_again_when_it_differs, setup),
		cmocka_unit_test_setup(test_a_new_schema_takes_the_migration_that_replaces_others,
	                               setup),
		cmocka_unit_test_setup(test_a_schema_with_the_replaced_migrations_keeps_them,
	                               setup),
		cmocka_unit_test_setup(
			test_a_schema_with_some_of_the_replaced_migrations_is_too_old, setup),
		cmocka_unit_test_setup(test_concurrent_runs_apply_once, setup),
		cmocka_unit_test_setup(test_transactions_go_on_while_a_migration_waits, setup),
		cmocka_unit_test_setup(test_a_migration_gives_up_where_a_table_stays_locked, setup),
		cmocka_unit_test_setup(test_a_killed_run_can_be_repeated, setup),
		cmocka_unit_test_setup(test_bad_url_and_unreachable_server, setup),
		cmocka_unit_test_setup(test_uuid_v7, setup),
		cmocka_unit_test_setup(test_task_functions, setup),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
