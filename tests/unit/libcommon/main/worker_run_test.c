/* A whole process: a service that has one job, which blocks its event loop. */
#include "main/worker_run.h"

#include "main/service_main.h"
#include "request/http_request.h"
#include "tasks_fixture.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCOUNT        "01900000-0000-7000-8000-000000000001"
#define PATIENCE_S     120
#define PATIENCE_TURNS (PATIENCE_S * 1000 / PAUSE_MS)
#define PAUSE_MS       5
#define CONNECTIONS    3

/* Pipes to and from the process. */
static int job_has_begun[2], job_may_end[2];

static void pipe_put(const int pipe[2])
{
	assert_int_equal(write(pipe[1], "x", 1), 1);
}

static void pipe_get(const int pipe[2])
{
	char byte;
	assert_int_equal(read(pipe[0], &byte, 1), 1);
}

static void job_block(struct request *rq, struct task *task)
{
	pipe_put(job_has_begun);
	pipe_get(job_may_end);
	task_complete(rq, task, "{}", NULL);
}

static void on_head(struct http_exchange *x)
{
	http_respond_start(x, 204, NULL, 0, 0);
	http_respond_end(x);
}

static void on_end(struct http_exchange *x)
{
	(void)x;
}

static void on_gone(struct http_exchange *x, enum err_code reason)
{
	(void)x, (void)reason;
}

static const struct http_handler HANDLER = {
	.on_head = on_head,
	.on_end = on_end,
	.on_gone = on_gone,
	.on_done = on_end,
	.refuse = http_refuse_problem,
};
static const struct job JOBS[] = {{"block", job_block}, {0}};
static const struct migration NONE[] = {{NULL, NULL}};
static const struct service SERVICE = {
	.name = "svc-test",
	.schema = "tested",
	.jobs = JOBS,
	.schema_definition = &(struct schema){.migrations = NONE},
	.public_handler = &HANDLER,
};

/* The process, and where it listens. */
static struct {
	uint16_t port, admin_port;
	pid_t pid;
} run;

static void listen_at(const char *name, uint16_t *ret_port)
{
	char text[32];
	*ret_port = free_port();
	snprintf(text, sizeof(text), "127.0.0.1:%u", *ret_port);
	setenv(name, text, 1);
}

static void set_environment(void)
{
	char database_url[320];
	snprintf(database_url, sizeof(database_url),
	         "%s&options=-csearch_path%%3Dtested%%20-cTimeZone%%3DUTC%%20-cDateStyle%%3DISO",
	         postgres.url);
	listen_at("LISTEN", &run.port);
	listen_at("ADMIN_LISTEN", &run.admin_port);
	setenv("DATABASE_URL", database_url, 1);
	setenv("REDIS_URL", redis_server.url, 1);
	setenv("SEAL_SECRETS", "0123456789abcdef0123456789abcdef", 1);
	setenv("DRAIN_DELAY", "0", 1);
}

static int run_process(void)
{
	struct worker workers[2] = {{.index = 0}};
	struct process process = {
		.service = &SERVICE,
		.settings = &process_settings,
		.roles = {true, true},
		.peers = {.url = process_settings.service_url},
		.instance = "test",
		.workers = workers,
		.worker_count = 1,
		.has_background = true,
		.worker_connections = CONNECTIONS,
		.background_connections = CONNECTIONS,
	};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return workers_run(&process);
}

static int setup(void **state)
{
	(void)state;
	pg_fixture_run(&postgres, "SET client_min_messages = error; "
	                          "DROP SCHEMA IF EXISTS tested CASCADE");
	redis_number("FLUSHALL");
	set_environment();
	assert_int_equal(process_settings_load(), ERR_NONE);
	assert_int_equal(pipe(job_has_begun), 0);
	assert_int_equal(pipe(job_may_end), 0);
	run.pid = fork();
	assert_true(run.pid >= 0);
	if (run.pid == 0)
		_exit(run_process());
	return 0;
}

/* Wait for the end of the process after SIGTERM. */
static void wait_end(void)
{
	int status;
	assert_int_equal(waitpid(run.pid, &status, 0), run.pid);
	run.pid = 0;
	assert_int_equal(status, 0);
}

static int teardown(void **state)
{
	(void)state;
	if (run.pid > 0)
		replica_kill(run.pid);
	for (int i = 0; i < 2; i++) {
		close(job_has_begun[i]);
		close(job_may_end[i]);
	}
	return 0;
}

/* The status of a GET; 0: nothing listens there, or the listener closed before it took the
 * connection. */
static int get(uint16_t port, const char *path)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_port = htons(port),
	                              .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	char text[512] = "";
	int status = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		int length =
			snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
		send(fd, text, (size_t)length, MSG_NOSIGNAL);
		memset(text, 0, sizeof(text));
		if (recv(fd, text, sizeof(text) - 1, 0) > 12)
			status = (int)strtol(text + strlen("HTTP/1.1 "), NULL, 10);
	}
	close(fd);
	return status;
}

static void until_status(uint16_t port, const char *path, int status)
{
	for (int turns = 0; get(port, path) != status; turns++) {
		assert_true(turns < PATIENCE_TURNS);
		uv_sleep(PAUSE_MS);
	}
}

static void until_number(long number, const char *statement)
{
	for (int turns = 0; sql("%s", statement) != number; turns++) {
		assert_true(turns < PATIENCE_TURNS);
		uv_sleep(PAUSE_MS);
	}
}

static void start_job(void)
{
	sql("SELECT count(*) FROM task_start('block', '" ACCOUNT "', '{}')");
}

static void test_requests_are_answered_while_a_job_blocks_its_loop(void **state)
{
	(void)state;
	until_status(run.admin_port, "/readyz", 200);
	start_job();
	pipe_get(job_has_begun);
	assert_int_equal(get(run.port, "/"), 204);
	assert_int_equal(get(run.admin_port, "/readyz"), 200);
	assert_int_equal(get(run.admin_port, "/metrics"), 200);
	pipe_put(job_may_end);
	until_number(1, "SELECT count(*) FROM task WHERE status = 'completed'");
	kill(run.pid, SIGTERM);
	wait_end();
}

/* It answers its operator until the job has ended, and takes no requests meanwhile. */
static void test_a_process_that_drains_waits_for_its_job(void **state)
{
	(void)state;
	until_status(run.admin_port, "/readyz", 200);
	start_job();
	pipe_get(job_has_begun);
	kill(run.pid, SIGTERM);
	until_status(run.port, "/", 0);
	assert_int_equal(get(run.admin_port, "/readyz"), 503);
	assert_int_equal(get(run.admin_port, "/metrics"), 200);
	pipe_put(job_may_end);
	wait_end();
	assert_int_equal(sql("SELECT count(*) FROM task WHERE status = 'completed'"), 1);
}

static void test_a_process_that_ends_gives_up_its_leases(void **state)
{
	(void)state;
	until_status(run.admin_port, "/readyz", 200);
	until_number(1, "SELECT count(*) FROM lease WHERE name = 'outbox' AND owner = 'test'");
	kill(run.pid, SIGTERM);
	wait_end();
	assert_int_equal(sql("SELECT count(*) FROM lease WHERE until > clock_timestamp()"), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_requests_are_answered_while_a_job_blocks_its_loop),
		CASE(test_a_process_that_drains_waits_for_its_job),
		CASE(test_a_process_that_ends_gives_up_its_leases),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
