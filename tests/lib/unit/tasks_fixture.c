#include "tasks_fixture.h"

#include "observe/log.h"
#include "pg/migrate.h"
#include "pg/pg.h"
#include "task/wake.h"

#include <hiredis/hiredis.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker_fixture fixture;
struct pg_fixture postgres;
struct redis_fixture redis_server;

static struct tasks *tasks;
static char database_url[256];
static const struct migration NONE[] = {{NULL, NULL}};

/* The lease is so long that none expires on a busy machine. Tests of expired leases set a shorter
 * one with tasks_lease(). */
static const struct tasks_timing LONG_LEASE = {
	.lease = 20000,
	.sweep = 100,
	.reconcile = 100,
	.trim = 100,
	.block = 200,
	.retry = 4,
	.retry_max = 20,
	.interrupted_max = 3600000,
	.quick = 0,
	.keep = 3600000,
	.stream_max = 100000,
	.late = 3600000,
};

static const struct event_stream STREAMS[] = {
	{"events.numbers", "svc-test", {"svc-test", "slow"}},
	{"events.others", "svc-test", {"svc-test"}},
	{"events.once", "svc-test", {"svc-test"}},
	{"events.accounts", "svc-test", {"svc-test"}},
	{NULL},
};

void tasks_lease(uint64_t lease_ms)
{
	tasks_timing.lease = lease_ms;
}

int tasks_group_setup(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN); /* as in every process */
	log_init("test", getenv("TEST_LOG") ? getenv("TEST_LOG") : "error");
	pg_fixture_new(&postgres);
	redis_fixture_new(&redis_server, NULL);
	redis_fixture_start(&redis_server);
	snprintf(database_url, sizeof(database_url), "%s&options=-csearch_path%%3Dtested",
	         postgres.url);
	return 0;
}

int tasks_group_teardown(void **state)
{
	(void)state;
	redis_fixture_free(&redis_server);
	pg_fixture_free(&postgres);
	return 0;
}

static struct pg_pool *new_pool(void)
{
	const struct pg_settings settings = {
		.url = database_url,
		.connections = 4,
		.pool_wait_ms = FIXTURE_TIMEOUT_MS,
	};
	return pg_pool_new(&fixture.worker.loop, &settings);
}

static void make_clients(void)
{
	fixture.worker.redis = redis_new(&fixture.worker.loop, redis_server.url, NULL);
	fixture.worker.pg = new_pool();
	fixture.worker.waker = waker_new(&fixture.worker, "svc-test", fixture.process.job_wake);
}

static void free_clients(void)
{
	redis_free(fixture.worker.redis);
	pg_pool_free(fixture.worker.pg);
	waker_free(fixture.worker.waker);
}

static void worker_setup(void)
{
	fixture_start(&fixture);
	fixture.settings.job_slots = 4;
	fixture.process.is_migrated = true;
	fixture.process.job_wake = job_wake_new();
	make_clients();
}

int tasks_setup(void **state)
{
	(void)state;
	pg_fixture_run(&postgres, "SET client_min_messages = error; "
	                          "DROP SCHEMA IF EXISTS tested CASCADE");
	assert_int_equal(migrate_run(postgres.url, "tested", &(struct schema){.migrations = NONE},
	                             NULL),
	                 ERR_NONE);
	redis_number("FLUSHALL");
	tasks_timing = LONG_LEASE;
	lease_term_ms = LONG_LEASE.lease;
	worker_setup();
	return 0;
}

void tasks_replica(const char *instance)
{
	/* The child leaves the parent's connections alone: it never runs the parent's loop. */
	fiber_loop_detach(&fixture.worker.loop);
	worker_setup();
	fixture.process.instance = instance;
}

void service_start(const struct job *jobs, const struct event_handler *events)
{
	const struct tasks_settings settings = {
		.service = "svc-test",
		.instance = fixture.process.instance,
		.jobs = jobs,
		.events = events,
		.streams = STREAMS,
		.job_slots = (int)fixture.settings.job_slots,
		.retention_days = 30,
		.wake = fixture.process.job_wake,
		.is_migrated = &fixture.process.is_migrated,
	};
	tasks = tasks_start(&fixture.worker, &settings);
}

pid_t replica_start(const struct job *jobs, const struct event_handler *events)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tasks_replica("other");
	service_start(jobs, events);
	for (;;)
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
}

void replica_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void on_drained(void *context)
{
	*(bool *)context = true;
}

void service_stop(void)
{
	bool is_drained = false;
	if (!tasks)
		return;
	tasks_drain(tasks, FIXTURE_TIMEOUT_MS, on_drained, &is_drained);
	fixture_until(&fixture, &is_drained);
	request_list_cancel(fixture.worker.requests, ERR_UNAVAILABLE);
	fixture_idle(&fixture);
	tasks_free(tasks);
	tasks = NULL;
	/* The tasks listen until the client is freed (redis_subscribe()). */
	free_clients();
	make_clients();
}

int tasks_teardown(void **state)
{
	(void)state;
	service_stop();
	free_clients();
	struct job_wake *wake = fixture.process.job_wake;
	fixture_stop(&fixture);
	job_wake_free(wake);
	return 0;
}

long sql(const char *format, ...)
{
	char text[2048] = "SET search_path = tested; ";
	size_t used = strlen(text);
	va_list args;
	va_start(args, format);
	vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
	return pg_fixture_run(&postgres, text);
}

static long number_of(const redisReply *reply)
{
	switch (reply->type) {
	case REDIS_REPLY_INTEGER:
		return (long)reply->integer;
	case REDIS_REPLY_ARRAY:
		return (long)reply->elements;
	case REDIS_REPLY_ERROR:
		return -1;
	default:
		return reply->type != REDIS_REPLY_NIL;
	}
}

static long ask_with(const char *format, va_list args)
{
	redisContext *context = redisConnectUnix(redis_server.url + strlen("unix:"));
	assert_true(context && !context->err);
	redisReply *reply = redisvCommand(context, format, args);
	assert_non_null(reply);
	long number = number_of(reply);
	freeReplyObject(reply);
	redisFree(context);
	return number;
}

long redis_number(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	long number = ask_with(format, args);
	va_end(args);
	return number;
}

void until_sql(long wanted, const char *statement)
{
	fixture_wait_start(&fixture);
	while (sql("%s", statement) != wanted) {
		if (fixture.ticks_left <= 0)
			fail_msg("never %ld: %s", wanted, statement);
		fixture_turn(&fixture);
	}
	uv_timer_stop(&fixture.tick);
}

/* `argument` replaces the `%s` of the format, if it has one. */
static void until_answer(long wanted, const char *format, const char *argument)
{
	fixture_wait_start(&fixture);
	while (redis_number(format, argument) != wanted) {
		if (fixture.ticks_left <= 0)
			fail_msg("never %ld: %s", wanted, argument ? argument : format);
		fixture_turn(&fixture);
	}
	uv_timer_stop(&fixture.tick);
}

void until_redis(long wanted, const char *command)
{
	until_answer(wanted, command, NULL);
}

void until_script(long wanted, const char *script)
{
	until_answer(wanted, "EVAL %s 0", script);
}
