#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "tasks_fixture.h"

#define ACCOUNT "01900000-0000-7000-8000-000000000001"

static int runs;
static bool has_refused, has_locked, may_unlock, is_away, is_over;

/* The last write of each third task fails. */
static void job_writing(struct request *rq, struct task *task)
{
	int64_t number = json_get_int(task->input, "n", 0);
	runs++;
	task_complete_after(rq, task, "{\"quoted\": \"a\\\"b\\\\\"}", "it said \"done\", {}\\,",
	                    &PG_CALL("INSERT INTO effect VALUES ($1::int / $2::int)",
	                             pg_int(number), pg_int(number % 3 ? 1 : 0)));
}

/* Its last write waits for the lock of a row. */
static void job_blocked(struct request *rq, struct task *task)
{
	task_complete_after(rq, task, "{}", NULL, &PG_CALL("INSERT INTO locked VALUES (1)"));
}

static void hold_lock(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "INSERT INTO locked VALUES (1)");
	has_locked = true;
	while (!may_unlock)
		pg_query(rq, "SELECT pg_sleep(0.01)");
	pg_rollback(rq);
}

static void complete_late(struct request *rq)
{
	task_complete_after(rq, rq->user, "{}", NULL, &PG_CALL("INSERT INTO effect VALUES (1)"));
}

/* Loses its task to another worker while it runs. */
static void job_late(struct request *rq, struct task *task)
{
	struct problem problem;
	runs++;
	sql("UPDATE task SET attempts = attempts + 1, lease_owner = 'another', "
	    "lease_until = now() + '1 hour' WHERE id = '%s'",
	    task->id);
	fiber_spawn(rq, complete_late, task);
	has_refused = fiber_join_try(rq, &problem) == ERR_CONFLICT;
}

/* Postgres is away when its first attempt ends. */
static void job_interrupted(struct request *rq, struct task *task)
{
	if (++runs > 1) {
		task_complete(rq, task, "{}", NULL);
		return;
	}
	pg_fixture_stop(&postgres);
	is_away = true;
	raise_error(rq, ERR_UNAVAILABLE, "Postgres is away");
}

/* A limit of requests ends in 50 minutes. */
static void job_limited(struct request *rq, struct task *task)
{
	(void)task;
	raise_retry_later(rq, ERR_RATE_LIMITED, 3000, "the limit is reached");
}

/* Another server answers with a page. */
static void job_misled(struct request *rq, struct task *task)
{
	(void)task;
	raise_error(rq, ERR_UPSTREAM, "the answer is no JSON");
}

/* What it needs is not configured. */
static void job_unconfigured(struct request *rq, struct task *task)
{
	(void)task;
	runs++;
	raise_error(rq, ERR_NOT_CONFIGURED, "the code-host app is not configured");
}

static const struct job JOBS[] = {
	{"blocked", job_blocked}, {"interrupted", job_interrupted},
	{"late", job_late},       {"limited", job_limited, .attempts_max = 1},
	{"misled", job_misled},   {"unconfigured", job_unconfigured, .acts_for_caller = true},
	{"writing", job_writing}, {NULL},
};

static int setup(void **state)
{
	runs = 0;
	has_refused = has_locked = may_unlock = is_away = is_over = false;
	tasks_setup(state);
	sql("CREATE TABLE effect (number int); CREATE TABLE locked (number int PRIMARY KEY)");
	return 0;
}

static void task_queue(const char *kind, int count)
{
	sql("SELECT count((task_start('%s', '" ACCOUNT "', jsonb_build_object('n', n))).id) "
	    "FROM generate_series(1, %d) AS n",
	    kind, count);
}

/* Tasks that are completed together keep their own outcomes, also when the write of one fails. */
static void test_a_last_write_commits_with_the_outcome(void **state)
{
	(void)state;
	task_queue("writing", 60);
	service_start(JOBS, NULL);
	until_sql(40,
	          "SELECT count(*) FROM task WHERE status = 'completed' AND (input->>'n')::int % 3 "
	          "<> 0 AND result->>'quoted' = 'a\"b\\' AND message = 'it said \"done\", {}\\,'");
	until_sql(
		20,
		"SELECT count(*) FROM task WHERE status = 'failed' AND (input->>'n')::int % 3 = 0 "
		"AND result IS NULL");
	assert_int_equal(runs, 60);
	assert_int_equal(sql("SELECT count(DISTINCT number) FROM effect WHERE number %% 3 <> 0"),
	                 40);
	assert_int_equal(sql("SELECT count(*) FROM effect"), 40);
}

/* One that waits for a lock holds up neither those of its batch nor those behind it, and is done
 * once the lock is gone. */
static void test_a_blocked_write_does_not_block_others(void **state)
{
	(void)state;
	request_spawn(&fixture.worker, "lock", FIXTURE_TIMEOUT_MS, hold_lock, NULL, NULL);
	fixture_until(&fixture, &has_locked);
	task_queue("blocked", 1);
	task_queue("writing", 60);
	service_start(JOBS, NULL);
	until_sql(40, "SELECT count(*) FROM task WHERE kind = 'writing' AND status = 'completed' "
	              "AND attempts = 1");
	assert_int_equal(sql("SELECT count(*) FROM task WHERE kind = 'blocked' AND status IN "
	                     "('pending', 'running')"),
	                 1);
	may_unlock = true;
	until_sql(1, "SELECT count(*) FROM task WHERE kind = 'blocked' AND status = 'completed'");
	assert_int_equal(sql("SELECT count(*) FROM locked"), 1);
}

static void test_a_last_write_of_a_lost_task_is_undone(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("late", 1);
	fixture_until(&fixture, &has_refused);
	assert_int_equal(runs, 1);
	assert_int_equal(sql("SELECT count(*) FROM effect"), 0);
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'running' AND attempts = 2 "
	                     "AND lease_owner = 'another'"),
	                 1);
}

static void end_outage(uv_timer_t *timer)
{
	pg_fixture_start(&postgres);
	is_over = true;
	uv_close((uv_handle_t *)timer, NULL);
}

/* However often it happens, it is no failure of the task. */
static void test_an_outage_of_some_seconds_is_an_interruption(void **state)
{
	(void)state;
	static uv_timer_t timer;
	task_queue("interrupted", 1);
	service_start(JOBS, NULL);
	fixture_until(&fixture, &is_away);
	uv_timer_init(&fixture.worker.loop, &timer);
	uv_timer_start(&timer, end_outage, 5000, 0);
	fixture_until(&fixture, &is_over);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 2 AND "
	             "interruptions = 1");
}

/* It is a dead letter: an operator can mend what is not configured. */
static void test_a_task_is_not_tried_again_where_the_answer_is_the_same(void **state)
{
	(void)state;
	task_queue("unconfigured", 1);
	service_start(JOBS, NULL);
	until_sql(1,
	          "SELECT count(*) FROM task WHERE status = 'failed' AND is_refused IS NOT TRUE");
	assert_int_equal(runs, 1);
}

/* A limit is no failure of the task either, which waits as long as the limit lasts. */
static void test_a_task_waits_for_the_end_of_a_limit(void **state)
{
	(void)state;
	task_queue("limited", 1);
	service_start(JOBS, NULL);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'pending' AND interruptions = 1 AND "
	             "run_after > now() + interval '40 minutes'");
}

/* The first repetition comes soon, the next ones after 30 times the usual pause. */
static void test_what_makes_no_sense_has_minutes_to_end(void **state)
{
	(void)state;
	tasks_timing.retry = tasks_timing.retry_max = 600000;
	task_queue("misled", 1);
	service_start(JOBS, NULL);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'pending' AND attempts = 1 AND "
	             "run_after < now() + interval '11 minutes'");
	sql("UPDATE task SET run_after = now()");
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'pending' AND attempts = 2 AND "
	             "run_after > now() + interval '140 minutes'");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, tasks_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_last_write_commits_with_the_outcome),
		CASE(test_a_blocked_write_does_not_block_others),
		CASE(test_a_last_write_of_a_lost_task_is_undone),
		CASE(test_an_outage_of_some_seconds_is_an_interruption),
		CASE(test_a_task_is_not_tried_again_where_the_answer_is_the_same),
		CASE(test_a_task_waits_for_the_end_of_a_limit),
		CASE(test_what_makes_no_sense_has_minutes_to_end),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
