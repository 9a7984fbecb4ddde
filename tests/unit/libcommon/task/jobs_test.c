#include "json/json.h"
#include "loop/wait.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "tasks_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNT "01900000-0000-7000-8000-000000000001"
#define OTHER   "01900000-0000-7000-8000-000000000002"
#define THIRD   "01900000-0000-7000-8000-000000000003"

static int runs; /* of jobs, in all */
static bool may_go_on, has_refused;
static bool release_one; /* one slow job of ACCOUNT ends */

static void job_ok(struct request *rq, struct task *task)
{
	runs++;
	assert_string_equal(task->kind, "ok");
	assert_string_equal(task->account, ACCOUNT);
	assert_true(rq->caller.kind == KEY_SERVICE);
	task_progress(rq, task, 50, "half way");
	task_complete(rq, task,
	              arena_printf(rq->arena, "{\"doubled\":%lld}",
	                           (long long)json_get_int(task->input, "n", -1) * 2),
	              "done");
}

static void job_flaky(struct request *rq, struct task *task)
{
	runs++;
	if (task->attempt < 3)
		raise_error(rq, ERR_UNAVAILABLE, "not yet");
	task_complete(rq, task, "{}", NULL);
}

/* Fails by itself in its second attempt; is interrupted before and after, by each kind of error. */
static void job_interrupted(struct request *rq, struct task *task)
{
	static const enum err_code CODES[] = {
		[1] = ERR_UNAVAILABLE, [2] = ERR_INTERNAL,    [3] = ERR_UNCERTAIN,
		[4] = ERR_CONTENTION,  [5] = ERR_TIMEOUT,     [6] = ERR_UNAVAILABLE,
		[7] = ERR_CONTENTION,  [8] = ERR_UNAVAILABLE, [9] = ERR_INTERNAL,
	};
	runs++;
	assert_in_range(task->attempt, 1, 9);
	raise_error(rq, CODES[task->attempt], "attempt %d", task->attempt);
}

static void job_away(struct request *rq, struct task *task)
{
	(void)task;
	runs++;
	raise_error(rq, ERR_UNAVAILABLE, "away");
}

static void job_bad(struct request *rq, struct task *task)
{
	(void)task;
	runs++;
	raise_field(rq, "repo", "must be there");
}

static void job_hopeless(struct request *rq, struct task *task)
{
	(void)task;
	runs++;
	raise_error(rq, ERR_UPSTREAM, "never");
}

static void job_silent(struct request *rq, struct task *task)
{
	(void)rq, (void)task;
	runs++;
}

/* Writes its effect and its outcome in one transaction; the first attempt does not commit. */
static void job_atomic(struct request *rq, struct task *task)
{
	runs++;
	pg_begin(rq);
	pg_query(rq, "INSERT INTO effect VALUES ($1::int)", pg_int(task->attempt));
	task_complete(rq, task, "{}", NULL);
	if (task->attempt > 1)
		pg_commit(rq);
}

static void job_slow(struct request *rq, struct task *task)
{
	runs++;
	task_progress(rq, task, 10, "under way");
	while (!may_go_on) {
		if (release_one && strcmp(task->account, ACCOUNT) == 0) {
			release_one = false;
			break;
		}
		fiber_sleep(rq, 5);
	}
	task_complete(rq, task, "{}", NULL);
}

/* Loses its task to another worker while it runs. */
static void job_late(struct request *rq, struct task *task)
{
	struct pg_rows *rows;
	runs++;
	sql("UPDATE task SET attempts = attempts + 1, lease_owner = 'another', "
	    "lease_until = now() + '1 hour' WHERE id = '%s'",
	    task->id);
	pg_begin(rq);
	pg_query(rq, "INSERT INTO effect VALUES (1)");
	assert_int_equal(pg_try(rq, &rows, NULL, "SELECT 1"), ERR_NONE);
	has_refused = true;
	task_complete(rq, task, "{}", NULL);
	has_refused = false;
	pg_commit(rq);
}

static void job_timed(struct request *rq, struct task *task)
{
	(void)task;
	runs++;
	fiber_sleep(rq, 60000);
}

/* Notes the order in which tasks run. */
static void job_noted(struct request *rq, struct task *task)
{
	runs++;
	pg_query(rq, "INSERT INTO noted (account) VALUES ($1::uuid)", pg_text(task->account));
	task_complete(rq, task, "{}", NULL);
}

static const struct job JOBS[] = {
	{"ok", job_ok},
	{"flaky", job_flaky},
	{"interrupted", job_interrupted, .attempts_max = 2},
	{"away", job_away, .attempts_max = 1},
	{"bad", job_bad},
	{"asked_badly", job_bad, .acts_for_caller = true},
	{"asked_hopeless", job_hopeless, .attempts_max = 2, .acts_for_caller = true},
	{"hopeless", job_hopeless, .attempts_max = 3},
	{"silent", job_silent, .attempts_max = 1},
	{"atomic", job_atomic},
	{"slow", job_slow},
	{"late", job_late},
	{"noted", job_noted},
	{"long", job_slow, .is_long = true},
	{"timed", job_timed, .attempts_max = 1, .timeout_ms = 20},
	{NULL},
};

static int setup(void **state)
{
	runs = 0;
	may_go_on = has_refused = release_one = false;
	tasks_setup(state);
	sql("CREATE TABLE effect (attempt int); "
	    "CREATE TABLE noted (at int GENERATED ALWAYS AS IDENTITY, account uuid)");
	return 0;
}

static void task_queue_of(const char *account, const char *kind, int count)
{
	sql("SELECT count((task_start('%s', '%s', jsonb_build_object('n', n))).id) "
	    "FROM generate_series(1, %d) AS n",
	    kind, account, count);
}

static void task_queue(const char *kind, int count)
{
	task_queue_of(ACCOUNT, kind, count);
}

static void test_tasks_are_completed(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("ok", 30);
	until_sql(30, "SELECT count(*) FROM task WHERE status = 'completed' AND progress = 100 AND "
	              "attempts = 1 AND message = 'done' AND (result->>'doubled')::int = "
	              "(input->>'n')::int * 2 AND started_at IS NOT NULL");
	assert_int_equal(runs, 30);
}

static void test_failed_attempts_are_retried_unless_final(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("flaky", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 3");
	assert_int_equal(runs, 3);
	runs = 0;
	task_queue("bad", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE kind = 'bad' AND status = 'failed' AND "
	             "attempts = 1 AND error LIKE '%repo must be there%' AND result IS NULL");
	assert_int_equal(runs, 1);
	runs = 0;
	task_queue("hopeless", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE kind = 'hopeless' AND status = 'failed' AND "
	             "attempts = 3 AND error = 'never'");
	assert_int_equal(runs, 3);
	task_queue("silent", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE kind = 'silent' AND status = 'failed'");
	task_queue("timed", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE kind = 'timed' AND status = 'failed'");
}

/* The caller's mistake is shown in the task, not to the operator, until something else fails. */
static void test_mistakes_of_callers_are_no_dead_letters(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("asked_badly", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'failed' AND is_refused AND "
	             "attempts = 1 AND error LIKE '%repo must be there%' AND message = error");
	task_queue("asked_hopeless", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'failed' AND NOT is_refused AND "
	             "attempts = 2 AND error = 'never' AND message = error");
}

static void test_interrupted_attempts_do_not_count(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("interrupted", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'failed' AND attempts = 9 AND "
	             "interruptions = 7 AND error = 'attempt 9'");
	assert_int_equal(runs, 9);
}

static void test_interruptions_end_with_time(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("away", 1);
	until_sql(1, "SELECT least(1, count(*)) FROM task WHERE status <> 'failed' AND "
	             "interruptions > 10");
	sql("UPDATE task SET started_at = now() - interval '61 minutes'");
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'failed' AND error = 'away' AND "
	             "attempts = interruptions");
}

static void test_effect_and_outcome_commit_together(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("atomic", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 2");
	assert_int_equal(sql("SELECT count(*) FROM effect"), 1);
	assert_int_equal(sql("SELECT attempt FROM effect"), 2);
}

static void test_a_worker_that_lost_its_task_cannot_complete_it(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("late", 1);
	fixture_until(&fixture, &has_refused);
	assert_int_equal(sql("SELECT count(*) FROM effect"), 0);
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'running' AND attempts = 2 "
	                     "AND lease_owner = 'another'"),
	                 1);
}

static void test_a_cancelled_task_stops(void **state)
{
	(void)state;
	tasks_lease(600);
	service_start(JOBS, NULL);
	task_queue("slow", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE progress = 10");
	sql("UPDATE task SET status = 'cancelled', lease_owner = NULL, lease_until = NULL, "
	    "finished_at = now()");
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'cancelled'"), 1);
}

static void test_a_lease_is_renewed(void **state)
{
	(void)state;
	tasks_lease(6000);
	service_start(JOBS, NULL);
	task_queue("slow", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE progress = 10 AND "
	             "lease_until > started_at + interval '7 seconds'");
	may_go_on = true;
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 1");
	assert_int_equal(runs, 1);
}

static void test_job_slots_limit_running_jobs(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("slow", 10);
	until_sql(4, "SELECT count(*) FROM task WHERE progress = 10");
	assert_int_equal(runs, 4);
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'pending'"), 6);
	may_go_on = true;
	until_sql(10, "SELECT count(*) FROM task WHERE status = 'completed'");
	assert_int_equal(runs, 10);
}

/* Once the kind is known to be quick, eight share each slot but one; that one is for any kind. */
static void test_quick_jobs_share_slots(void **state)
{
	(void)state;
	tasks_timing.quick = 900;
	may_go_on = true;
	service_start(JOBS, NULL);
	task_queue("slow", 12);
	until_sql(12, "SELECT count(*) FROM task WHERE status = 'completed'");
	may_go_on = false;
	task_queue("slow", 60);
	until_sql(25, "SELECT count(*) FROM task WHERE progress = 10");
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'running'"), 25);
	task_queue("noted", 1);
	may_go_on = true;
	until_sql(73, "SELECT count(*) FROM task WHERE status = 'completed'");
}

/* The gauge of tasks that wait; -1: there is none. */
static long queued(void)
{
	static const char NAME[] = "\nexpops_jobs_queued ";
	struct arena *arena = arena_new();
	const char *line = strstr(metrics_text(arena), NAME);
	long count = line ? strtol(line + strlen(NAME), NULL, 10) : -1;
	arena_free(arena);
	return count;
}

static void until_queued(long wanted)
{
	fixture_wait_start(&fixture);
	while (queued() != wanted)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

static void test_waiting_tasks_are_counted(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("slow", 10);
	until_queued(6); /* the others have the four slots */
	may_go_on = true;
	until_queued(0);
	until_sql(10, "SELECT count(*) FROM task WHERE status = 'completed'");
}

static void test_a_drain_waits_for_running_jobs(void **state)
{
	(void)state;
	fixture.settings.job_slots = 1;
	service_start(JOBS, NULL);
	task_queue("slow", 2);
	until_sql(1, "SELECT count(*) FROM task WHERE progress = 10");
	may_go_on = true;
	service_stop();
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'completed'"), 1);
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'pending'"), 1);
	service_start(JOBS, NULL);
	until_sql(2, "SELECT count(*) FROM task WHERE status = 'completed'");
}

static void test_tasks_of_a_killed_worker_are_taken_over(void **state)
{
	(void)state;
	tasks_lease(5000);
	pid_t pid = replica_start(JOBS, NULL);
	task_queue("slow", 6);
	until_sql(4, "SELECT count(*) FROM task WHERE progress = 10 AND lease_owner = 'other'");
	service_start(JOBS, NULL);
	until_sql(6, "SELECT count(*) FROM task WHERE progress = 10");
	assert_int_equal(runs, 2);
	may_go_on = true;
	until_sql(2, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 1");
	replica_kill(pid);
	until_sql(4, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 2");
	assert_int_equal(runs, 6);
}

static void test_a_task_fails_when_its_worker_dies_in_the_last_attempt(void **state)
{
	(void)state;
	task_queue("slow", 1);
	sql("UPDATE task SET status = 'running', attempts = 5, lease_owner = 'killed', "
	    "lease_until = now() - interval '1 second'");
	service_start(JOBS, NULL);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'failed' AND error IS NOT NULL");
	assert_int_equal(runs, 0);
}

static void test_tasks_run_after_redis_lost_everything(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("slow", 4);
	until_sql(4, "SELECT count(*) FROM task WHERE progress = 10");
	task_queue("ok", 20);
	redis_number("FLUSHALL");
	may_go_on = true;
	until_sql(24, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 1");
	assert_int_equal(runs, 24);
}

/* The stream alone was deleted: the tasks are found without entries. */
static void test_tasks_run_after_the_stream_was_deleted(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("slow", 4);
	until_sql(4, "SELECT count(*) FROM task WHERE progress = 10");
	task_queue("ok", 20);
	redis_number("DEL jobs.svc-test");
	may_go_on = true;
	until_sql(24, "SELECT count(*) FROM task WHERE status = 'completed' AND attempts = 1");
	assert_int_equal(runs, 24);
}

static void test_tasks_run_after_redis_was_killed(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("ok", 200);
	until_sql(1, "SELECT least(1, count(*)) FROM task WHERE status = 'completed'");
	redis_fixture_kill(&redis_server);
	task_queue("flaky", 10);
	for (int i = 0; i < 20; i++)
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	redis_fixture_start(&redis_server);
	until_sql(210, "SELECT count(*) FROM task WHERE status = 'completed'");
}

static void test_tasks_run_after_postgres_crashed(void **state)
{
	(void)state;
	tasks_lease(600);
	service_start(JOBS, NULL);
	task_queue("ok", 200);
	until_sql(1, "SELECT least(1, count(*)) FROM task WHERE status = 'completed'");
	pg_fixture_crash(&postgres);
	for (int i = 0; i < 20; i++)
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	pg_fixture_start(&postgres);
	until_sql(200, "SELECT count(*) FROM task WHERE status = 'completed'");
}

/* Entries without a task: a worker that reads them finds nothing to do. */
static void test_superfluous_entries_do_no_harm(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	for (int i = 0; i < 3; i++)
		redis_number("XADD jobs.svc-test * task not-an-id kind ok");
	task_queue("ok", 1);
	until_sql(1, "SELECT count(*) FROM task WHERE status = 'completed'");
	assert_int_equal(runs, 1);
	assert_int_equal(sql("SELECT attempts FROM task"), 1);
}

/* 200 tasks of one account wait when two others start theirs: these are among the next. */
static void test_accounts_share_the_workers(void **state)
{
	(void)state;
	fixture.settings.job_slots = 1;
	task_queue("noted", 200);
	service_start(JOBS, NULL);
	until_sql(1, "SELECT least(1, count(*)) FROM noted");
	long before = sql("SELECT count(*) FROM noted");
	task_queue_of(OTHER, "noted", 10);
	task_queue_of(THIRD, "noted", 1);
	until_sql(1, "SELECT count(*) FROM noted WHERE account = '" THIRD "'");
	until_sql(10, "SELECT count(*) FROM noted WHERE account = '" OTHER "'");
	/* Those that ran while the tasks were started, then one of each account in turn. */
	long started =
		sql("SELECT at FROM noted WHERE account <> '" ACCOUNT "' ORDER BY at LIMIT 1");
	assert_true(started > before);
	assert_in_range(sql("SELECT at FROM noted WHERE account = '" THIRD "'"), started,
	                started + 2);
	assert_in_range(sql("SELECT max(at) FROM noted WHERE account = '" OTHER "'"), started + 10,
	                started + 22);
}

/* The slots are shared, too: those that become free go to the account with fewer running tasks,
 * although the other one queued first. */
static void test_accounts_share_the_slots(void **state)
{
	(void)state;
	service_start(JOBS, NULL);
	task_queue("slow", 40);
	until_sql(4, "SELECT count(*) FROM task WHERE progress = 10");
	task_queue_of(OTHER, "slow", 40);
	for (int ended = 1; ended <= 2; ended++) {
		release_one = true;
		until_sql(ended, "SELECT count(*) FROM task WHERE status = 'completed'");
		until_sql(4, "SELECT count(*) FROM task WHERE progress = 10");
	}
	assert_int_equal(
		sql("SELECT count(*) FROM task WHERE status = 'running' AND account_id = '" OTHER
	            "'"),
		2);
	may_go_on = true;
	until_sql(80, "SELECT count(*) FROM task WHERE status = 'completed'");
}

/* Failed attempts queue behind what other accounts have queued meanwhile. */
static void test_retried_tasks_do_not_go_first(void **state)
{
	(void)state;
	sql("SELECT count((task_start('noted', '" ACCOUNT "', jsonb_build_object('n', n))).id) "
	    "FROM generate_series(1, 60) AS n");
	sql("UPDATE task SET turn = NULL, attempts = 1, interruptions = 1");
	fixture.settings.job_slots = 1;
	task_queue_of(OTHER, "noted", 5);
	service_start(JOBS, NULL);
	until_sql(65, "SELECT count(*) FROM noted");
	assert_in_range(sql("SELECT max(at) FROM noted WHERE account = '" OTHER "'"), 5, 12);
}

static void test_equal_tasks_are_one(void **state)
{
	(void)state;
	long first =
		sql("SELECT count(DISTINCT (task_start('slow', '" ACCOUNT "', '{\"a\": 1}')).id) "
	            "FROM generate_series(1, 20)");
	assert_int_equal(first, 1);
	task_queue_of(ACCOUNT, "slow", 1);
	sql("SELECT (task_start('slow', '" OTHER "', '{\"a\": 1}')).id");
	sql("SELECT (task_start('noted', '" ACCOUNT "', '{\"a\": 1}')).id");
	sql("SELECT count((task_start('slow', NULL, '{\"a\": 1}')).id) FROM generate_series(1, 2)");
	assert_int_equal(sql("SELECT count(*) FROM task"), 5);
	/* One that runs, or ran before, has seen other data: a new task is started. */
	service_start(JOBS, NULL);
	until_sql(4, "SELECT count(*) FROM task WHERE status = 'running'");
	sql("SELECT (task_start('slow', '" ACCOUNT "', '{\"a\": 1}')).id");
	assert_int_equal(
		sql("SELECT count(*) FROM task WHERE kind = 'slow' AND account_id = '" ACCOUNT
	            "' AND input = '{\"a\": 1}'"),
		2);
	may_go_on = true;
	until_sql(6, "SELECT count(*) FROM task WHERE status = 'completed'");
}

static void test_pending_tasks_of_an_account_are_bounded(void **state)
{
	(void)state;
	sql("UPDATE task_limit SET pending_max = 3");
	task_queue("noted", 3);
	assert_int_equal(sql("SELECT count((task_start('noted', '" ACCOUNT "', '{\"n\": 2}')).id)"),
	                 1);
	sql("DO $$ DECLARE violated text; BEGIN "
	    "  PERFORM task_start('noted', '" ACCOUNT "', '{\"n\": 4}'); RAISE 'not refused'; "
	    "EXCEPTION WHEN unique_violation THEN "
	    "  GET STACKED DIAGNOSTICS violated = CONSTRAINT_NAME; "
	    "  ASSERT violated = 'task_pending_max'; END $$");
	task_queue_of(OTHER, "noted", 3);
	sql("SELECT (task_put('noted', '" ACCOUNT "', '{\"n\": 4}', NULL, NULL)).id");
	assert_int_equal(sql("SELECT count(*) FROM task"), 7);
}

static void test_ended_tasks_are_deleted_after_their_retention(void **state)
{
	(void)state;
	task_queue("noted", 1200);
	sql("UPDATE task SET status = 'completed', turn = NULL, finished_at = now() - "
	    "CASE WHEN (input->>'n')::int <= 1100 THEN interval '31 days' ELSE interval '29 days' "
	    "END");
	service_start(JOBS, NULL);
	until_sql(100, "SELECT count(*) FROM task");
	assert_int_equal(sql("SELECT min((input->>'n')::int) FROM task"), 1101);
}

static void test_long_jobs_leave_a_slot(void **state)
{
	(void)state;
	task_queue("long", 10);
	service_start(JOBS, NULL);
	until_sql(3, "SELECT count(*) FROM task WHERE progress = 10");
	task_queue_of(OTHER, "noted", 1);
	task_queue("noted", 20);
	until_sql(21, "SELECT count(*) FROM task WHERE kind = 'noted' AND status = 'completed'");
	assert_int_equal(
		sql("SELECT count(*) FROM task WHERE kind = 'long' AND status = 'running'"), 3);
	may_go_on = true;
	until_sql(10, "SELECT count(*) FROM task WHERE kind = 'long' AND status = 'completed'");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, tasks_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_tasks_are_completed),
		CASE(test_failed_attempts_are_retried_unless_final),
		CASE(test_mistakes_of_callers_are_no_dead_letters),
		CASE(test_interrupted_attempts_do_not_count),
		CASE(test_interruptions_end_with_time),
		CASE(test_effect_and_outcome_commit_together),
		CASE(test_a_worker_that_lost_its_task_cannot_complete_it),
		CASE(test_a_cancelled_task_stops),
		CASE(test_a_lease_is_renewed),
		CASE(test_job_slots_limit_running_jobs),
		CASE(test_quick_jobs_share_slots),
		CASE(test_waiting_tasks_are_counted),
		CASE(test_a_drain_waits_for_running_jobs),
		CASE(test_tasks_of_a_killed_worker_are_taken_over),
		CASE(test_a_task_fails_when_its_worker_dies_in_the_last_attempt),
		CASE(test_tasks_run_after_redis_lost_everything),
		CASE(test_tasks_run_after_the_stream_was_deleted),
		CASE(test_tasks_run_after_redis_was_killed),
		CASE(test_tasks_run_after_postgres_crashed),
		CASE(test_superfluous_entries_do_no_harm),
		CASE(test_accounts_share_the_workers),
		CASE(test_accounts_share_the_slots),
		CASE(test_retried_tasks_do_not_go_first),
		CASE(test_equal_tasks_are_one),
		CASE(test_pending_tasks_of_an_account_are_bounded),
		CASE(test_ended_tasks_are_deleted_after_their_retention),
		CASE(test_long_jobs_leave_a_slot),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
