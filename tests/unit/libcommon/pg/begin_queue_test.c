#include "pg_suite.h"

/* A transaction of an account that goes on until it is asked to end. */
struct tenant {
	uint8_t account;
	struct request *rq;
	bool has_begun, may_end, is_over;
	int place; /* in the order of all BEGINs, from 1 */
};

static int begun;

static void tenant_run(struct request *rq)
{
	struct tenant *tenant = rq->user;
	rq->caller.account = (struct uuid){{tenant->account}};
	pg_begin(rq);
	tenant->place = ++begun;
	tenant->has_begun = true;
	while (!tenant->may_end)
		request_wait(rq);
	pg_commit(rq);
}

static void tenant_over(struct request *rq)
{
	struct tenant *tenant = rq->user;
	assert_int_equal(rq->problem.code, ERR_NONE);
	tenant->is_over = true;
}

static void tenant_start(struct tenant *tenant, uint8_t account)
{
	*tenant = (struct tenant){.account = account};
	tenant->rq = fixture_spawn(&fixture, tenant_run, tenant_over, tenant);
}

static void tenant_end(struct tenant *tenant)
{
	fixture_until(&fixture, &tenant->has_begun);
	tenant->may_end = true;
	fiber_wake(tenant->rq->fiber);
	fixture_until(&fixture, &tenant->is_over);
}

static void open_pool_of(int connections)
{
	begun = 0;
	open_pool(&(struct pg_settings){.url = server.url,
	                                .connections = connections,
	                                .pool_wait_ms = FIXTURE_TIMEOUT_MS});
}

/* With one connection for transactions an account waits for one of another, not for all. */
static void test_accounts_take_turns(void **state)
{
	(void)state;
	struct tenant many[4], few[2];
	open_pool_of(2);
	tenant_start(&many[0], 1);
	fixture_until(&fixture, &many[0].has_begun);
	for (int i = 1; i < 4; i++)
		tenant_start(&many[i], 1);
	for (int i = 0; i < 2; i++)
		tenant_start(&few[i], 2);
	tenant_end(&many[0]);
	tenant_end(&few[0]);
	tenant_end(&many[1]);
	tenant_end(&few[1]);
	tenant_end(&many[2]);
	tenant_end(&many[3]);
	assert_int_equal(few[0].place, 2);
	assert_int_equal(many[1].place, 3);
	assert_int_equal(few[1].place, 4);
	assert_int_equal(many[3].place, 6);
}

/* An account alone has all connections but one. After another had to wait, it keeps half of
 * them. */
static void test_an_account_leaves_connections_to_others(void **state)
{
	(void)state;
	struct tenant many[6], one;
	open_pool_of(5);
	for (int i = 0; i < 6; i++)
		tenant_start(&many[i], 1);
	for (int i = 0; i < 4; i++)
		fixture_until(&fixture, &many[i].has_begun);
	tenant_start(&one, 2);
	tenant_end(&many[0]);
	fixture_until(&fixture, &one.has_begun);
	tenant_end(&many[1]);
	tenant_end(&one);
	for (int i = 0; i < 3; i++) {
		tenant_start(&one, 2);
		fixture_until(&fixture, &one.has_begun);
		assert_false(many[4].has_begun);
		tenant_end(&one);
	}
	tenant_end(&many[2]);
	fixture_until(&fixture, &many[4].has_begun);
	assert_false(many[5].has_begun);
	for (int i = 3; i < 6; i++)
		tenant_end(&many[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_accounts_take_turns, teardown),
		cmocka_unit_test_teardown(test_an_account_leaves_connections_to_others, teardown),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
