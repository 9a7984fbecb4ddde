#include "pg_suite.h"

#include <libpq-fe.h>

/* Waits until nobody has locked its number, and answers it. */
#define LONG_SQL  "SELECT $1::bigint FROM (SELECT pg_advisory_xact_lock_shared($1::bigint)) waited"
#define SHORT_SQL "SELECT $1::bigint"

/* A single statement of an account. */
struct tenant {
	uint8_t account;
	int place; /* in the order of all answers, from 1 */
	struct outcome outcome;
};

static PGconn *locks; /* holds those that long statements wait for */
static int answered;

static void tenant_run(struct request *rq)
{
	struct tenant *tenant = CONTAINER_OF((struct outcome *)rq->user, struct tenant, outcome);
	rq->caller.account = (struct uuid){{tenant->account}};
	query_number(rq);
	tenant->place = ++answered;
}

static void start(struct tenant *tenant, uint8_t account, const char *sql, long number)
{
	*tenant = (struct tenant){.account = account, .outcome = {.sql = sql, .number = number}};
	spawn(&tenant->outcome, tenant_run);
}

static void finish(struct tenant *tenant)
{
	fixture_until(&fixture, &tenant->outcome.is_over);
	assert_int_equal(tenant->outcome.code, ERR_NONE);
	assert_int_equal(tenant->outcome.answer, tenant->outcome.number);
}

/* The answer of a statement with the number to the connection of the locks. */
static long ask(const char *format, long number)
{
	char sql[128];
	snprintf(sql, sizeof(sql), format, number);
	PGresult *result = PQexec(locks, sql);
	assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
	long answer = strtol(PQgetvalue(result, 0, 0), NULL, 10);
	PQclear(result);
	return answer;
}

static void run_loop(int ticks)
{
	fixture_wait_start(&fixture);
	int last = fixture.ticks_left - ticks;
	while (fixture.ticks_left > last)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

/* A long statement, which may have to wait for a connection. */
static void start_long(struct tenant *tenant, uint8_t account, long number)
{
	ask("SELECT count(pg_advisory_lock(%ld))", number);
	start(tenant, account, LONG_SQL, number);
	run_loop(4);
}

/* One that runs, for long enough to be slow. */
static void start_running(struct tenant *tenant, uint8_t account, long number)
{
	start_long(tenant, account, number);
	while (!ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
	            "AND objid = %ld",
	            number))
		run_loop(1);
	run_loop(4);
}

static void finish_long(struct tenant *tenant)
{
	ask("SELECT pg_advisory_unlock(%ld)::int", tenant->outcome.number);
	finish(tenant);
}

static void open_pool_of(int connections)
{
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = connections,
	                                .pool_wait_ms = 200});
	answered = 0;
	locks = PQconnectdb(server.url);
	assert_int_equal(PQstatus(locks), CONNECTION_OK);
}

static int close_all(void **state)
{
	PQfinish(locks);
	return teardown(state);
}

/* However many long statements an account has, the first of another runs at once. They wait for
 * each other for longer than a statement waits for a connection. */
static void test_an_account_leaves_one_connection(void **state)
{
	(void)state;
	struct tenant many[6], one;
	open_pool_of(4);
	for (int i = 0; i < 3; i++)
		start_running(&many[i], 1, i + 1);
	for (int i = 3; i < 6; i++)
		start_long(&many[i], 1, i + 1);
	start(&one, 2, SHORT_SQL, 9);
	finish(&one);
	run_loop(80);
	for (int i = 0; i < 6; i++) {
		assert_false(many[i].outcome.is_over);
		finish_long(&many[i]);
	}
}

static void test_what_is_of_no_account_is_not_limited(void **state)
{
	(void)state;
	struct tenant none[4];
	open_pool_of(4);
	for (int i = 0; i < 4; i++)
		start_running(&none[i], 0, i + 1);
	for (int i = 0; i < 4; i++)
		finish_long(&none[i]);
}

/* Once another account had to wait, one that holds half gets no other connection. What waits does
 * so behind the account that holds fewer. */
static void test_accounts_share_once_one_has_waited(void **state)
{
	(void)state;
	struct tenant many[6], other, one[2];
	open_pool_of(5);
	for (int i = 0; i < 4; i++)
		start_running(&many[i], 1, i + 1);
	start_running(&other, 2, 10);
	start(&one[0], 3, SHORT_SQL, 11);
	start_long(&many[4], 1, 5);
	start_long(&many[5], 1, 6);
	finish_long(&many[0]);
	finish_long(&many[1]);
	start(&one[1], 3, SHORT_SQL, 12);
	finish(&one[1]);
	assert_false(one[0].outcome.is_over);
	finish_long(&other);
	finish(&one[0]);
	for (int i = 2; i < 6; i++)
		finish_long(&many[i]);
}

/* Those of an account that wait for its long one are no obstacle to another's. */
static void test_another_account_is_first(void **state)
{
	(void)state;
	struct tenant first, many[3], one;
	open_pool_of(1);
	start_running(&first, 1, 1);
	for (int i = 0; i < 3; i++)
		start(&many[i], 1, SHORT_SQL, i + 2);
	start(&one, 2, SHORT_SQL, 9);
	finish_long(&first);
	finish(&one);
	for (int i = 0; i < 3; i++)
		finish(&many[i]);
	assert_int_equal(one.place, 2);
	assert_int_equal(many[2].place, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_an_account_leaves_one_connection, close_all),
		cmocka_unit_test_teardown(test_what_is_of_no_account_is_not_limited, close_all),
		cmocka_unit_test_teardown(test_accounts_share_once_one_has_waited, close_all),
		cmocka_unit_test_teardown(test_another_account_is_first, close_all),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
