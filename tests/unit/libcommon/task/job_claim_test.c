/* Who hears of tasks that were committed. */
#include "loop/wait.h"
#include "pg/pg.h"
#include "tasks_fixture.h"

#define ACCOUNT "01900000-0000-7000-8000-000000000001"

static bool may_go_on;

static void job_ok(struct request *rq, struct task *task)
{
	task_complete(rq, task, "{}", NULL);
}

static void job_slow(struct request *rq, struct task *task)
{
	task_progress(rq, task, 10, "under way");
	while (!may_go_on)
		fiber_sleep(rq, 5);
	task_complete(rq, task, "{}", NULL);
}

static const struct job JOBS[] = {
	{"ok", job_ok},
	{"slow", job_slow},
	{"long", job_slow, .is_long = true},
	{NULL},
};

static int setup(void **state)
{
	may_go_on = false;
	return tasks_setup(state);
}

struct wanted {
	const char *kind;
	int count;
};

/* Queues the tasks in one transaction of the worker, which announces them. */
static void write_tasks(struct request *rq)
{
	const struct wanted *wanted = rq->user;
	pg_query(rq,
	         "SELECT count((task_put($2, $1::uuid, jsonb_build_object('at', clock_timestamp(), "
	         "'n', n), NULL, NULL)).id) FROM generate_series(1, $3::int) AS n",
	         pg_text(ACCOUNT), pg_text(wanted->kind), pg_int(wanted->count));
}

static void test_a_commit_adds_one_entry(void **state)
{
	(void)state;
	fixture_run(&fixture, write_tasks, &(struct wanted){"slow", 3});
	until_redis(1, "XLEN jobs.svc-test");
	fixture_run(&fixture, write_tasks, &(struct wanted){"slow", 1});
	until_redis(2, "XLEN jobs.svc-test");
	for (int i = 0; i < 100; i++)
		fixture_run(&fixture, write_tasks, &(struct wanted){"slow", 1});
	until_redis(64, "XLEN jobs.svc-test"); /* and no more, although nobody reads */
}

/* Start the service and wait until it is idle. It does not look for tasks by itself. */
static void idle_service_start(void)
{
	tasks_timing.block = 20000;
	service_start(JOBS, NULL);
	until_script(
		1, "return tonumber(redis.call('INFO', 'clients'):match('blocked_clients:(%d)'))");
}

static void test_an_idle_process_starts_its_own_tasks(void **state)
{
	(void)state;
	idle_service_start();
	fixture_spawn(&fixture, write_tasks, NULL, &(struct wanted){"ok", 1});
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'completed'");
	assert_int_equal(redis_number("XLEN jobs.svc-test"), 0);
}

static void test_a_process_that_runs_a_job_shares_its_tasks(void **state)
{
	(void)state;
	idle_service_start();
	fixture_spawn(&fixture, write_tasks, NULL, &(struct wanted){"slow", 1});
	until_sql(1, "SELECT count(*) FROM task WHERE progress = 10");
	assert_int_equal(redis_number("XLEN jobs.svc-test"), 0);
	fixture_spawn(&fixture, write_tasks, NULL, &(struct wanted){"slow", 1});
	until_redis(1, "XLEN jobs.svc-test");
	may_go_on = true;
	until_sql(2, "SELECT count(*) FROM task WHERE status = 'completed'");
}

/* Whether the newest entry was read. */
static const char IS_READ[] =
	"local group = redis.call('XINFO', 'GROUPS', 'jobs.svc-test')[1] "
	"local newest = redis.call('XREVRANGE', 'jobs.svc-test', '+', '-', 'COUNT', 1)[1] "
	"if not newest then return -1 end "
	"for i = 1, #group, 2 do "
	"  if group[i] == 'last-delivered-id' then return group[i + 1] == newest[1] and 1 or 0 end "
	"end";

/* The process has four slots for six tasks, and adds an entry for another process. It may read that
 * itself, and then adds one more. */
static void test_a_full_process_passes_the_message_on(void **state)
{
	(void)state;
	idle_service_start();
	fixture_spawn(&fixture, write_tasks, NULL, &(struct wanted){"slow", 6});
	until_sql(4, "SELECT count(*) FROM task WHERE progress = 10");
	until_script(0, IS_READ);
	assert_in_range(redis_number("XLEN jobs.svc-test"), 1, 2);
	may_go_on = true;
	until_sql(6, "SELECT count(*) FROM task WHERE status = 'completed'");
}

/* The slot that is kept for others is free, but long tasks wait: another process may have slots for
 * them. */
static void test_long_tasks_are_passed_on(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	until_redis(1, "XINFO GROUPS jobs.svc-test");
	fixture_spawn(&fixture, write_tasks, NULL, &(struct wanted){"long", 5});
	until_sql(3, "SELECT count(*) FROM task WHERE progress = 10");
	until_script(1, IS_READ); /* by itself, which passes it on once */
	long entries = redis_number("XLEN jobs.svc-test");
	sql("SELECT (task_start('ok', '" ACCOUNT "', '{}')).id");
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'completed'");
	/* `ok` took the last slot: one more, which may be passed on once */
	assert_in_range(redis_number("XLEN jobs.svc-test"), entries, entries + 2);
	may_go_on = true;
	until_sql(6, "SELECT count(*) FROM task WHERE status = 'completed'");
}

/* Such an entry may reach the process that added it, if that has waited longest. */
static void test_an_entry_of_its_own_is_added_again(void **state)
{
	(void)state;
	idle_service_start();
	redis_number("XADD jobs.svc-test * wake %s", "other");
	until_script(1, IS_READ);
	redis_number("XADD jobs.svc-test * wake %s", fixture.process.instance);
	until_redis(3, "XLEN jobs.svc-test");
	until_script(1, IS_READ);
	redis_number("XADD jobs.svc-test * wake %s", "other");
	until_script(1, IS_READ);
	assert_int_equal(redis_number("XLEN jobs.svc-test"), 4);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, tasks_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_commit_adds_one_entry),
		CASE(test_an_idle_process_starts_its_own_tasks),
		CASE(test_a_process_that_runs_a_job_shares_its_tasks),
		CASE(test_a_full_process_passes_the_message_on),
		CASE(test_long_tasks_are_passed_on),
		CASE(test_an_entry_of_its_own_is_added_again),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
