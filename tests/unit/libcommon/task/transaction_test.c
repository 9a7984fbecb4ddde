/* Nothing but Postgres is waited for inside a transaction: the process would keep its locks if it
 * were stopped there. Each such call is a bug and aborts. */
#include "client/fetch.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "tasks_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void sleeps(struct request *rq)
{
	fiber_sleep(rq, 1);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void offloads(struct request *rq)
{
	fiber_offload(rq, LANE_SHORT, nothing, NULL);
}

static void joins(struct request *rq)
{
	fiber_join(rq);
}

static void fetches(struct request *rq)
{
	struct fetch_response *answer;
	fetch_try(rq, &(struct fetch_call){.url = "http://127.0.0.1:1/"}, &answer);
}

static void asks_redis(struct request *rq)
{
	redis_words(rq, "PING");
}

static void reads_redis(struct request *rq)
{
	const char *const argv[] = {"XREAD", "BLOCK", "10", "STREAMS", "s", "0"};
	struct redis_value *value;
	redis_blocking_try(rq, redis_blocking_new(rq->worker->redis), &value, argv,
	                   ARRAY_LEN(argv));
}

static void yields(struct request *rq)
{
	fiber_sleep(rq, 0);
}

static void in_transaction(struct request *rq)
{
	pg_begin(rq);
	pg_begin(rq);
	pg_commit(rq);
	request_fn *const *wait = rq->user;
	(*wait)(rq);
}

static void after_transactions(struct request *rq)
{
	pg_begin(rq);
	pg_commit(rq);
	pg_begin(rq);
	pg_rollback(rq);
	request_fn *const *wait = rq->user;
	(*wait)(rq);
}

/* How a process ends that runs `main` with `wait`. */
static int status_of(request_fn *main, request_fn *wait)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL); /* cmocka catches it */
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		tasks_replica("other");
		request_spawn(&fixture.worker, "wait", FIXTURE_TIMEOUT_MS, main, NULL, &wait);
		fixture_idle(&fixture);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_waiting_in_a_transaction_aborts(void **state)
{
	(void)state;
	request_fn *const waits[] = {sleeps, offloads, joins, fetches, asks_redis, reads_redis};
	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		int status = status_of(in_transaction, waits[i]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

static void test_other_waits_go_on(void **state)
{
	(void)state;
	request_fn *const waits[] = {sleeps, offloads, joins, asks_redis};
	for (size_t i = 0; i < ARRAY_LEN(waits); i++)
		assert_int_equal(status_of(after_transactions, waits[i]), 0);
	assert_int_equal(status_of(in_transaction, yields), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_waiting_in_a_transaction_aborts, tasks_setup,
	                                        tasks_teardown),
		cmocka_unit_test_setup_teardown(test_other_waits_go_on, tasks_setup,
	                                        tasks_teardown),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
