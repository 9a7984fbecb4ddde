/* The work that jobs.py measures: jobs of which each commits a row together with its outcome.
 *
 *     jobs_runner JOBS CONCURRENCY   run as many queued tasks, and print {"seconds", "cpu"}
 *     jobs_runner JOBS latency       queue one after the other, and print {"ms": [...]} from the statement that queues
 *                                    to the start of the job
 *
 * DATABASE_URL is a database without the schema `bench`, REDIS_URL an empty Redis.
 */
#include "base/base.h"
#include "base/timefmt.h"
#include "cpu_time.h"
#include "loop/fiber.h"
#include "loop/request_list.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "pg/migrate.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "service/process.h"
#include "task/tasks.h"
#include "task/wake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS   12 /* as a process has by default */
#define ACCOUNTS      50
#define LATENCY_SLOTS 4
#define PAUSE_MS      20 /* between two tasks, so that everything is idle again */
#define TIMEOUT_MS    600000

static int wanted, done;
static uint64_t queued_us;
static uv_timer_t pause_timer;

static void count(struct request *rq, struct task *task)
{
	if (queued_us)
		printf("%s%.3f", done ? ", " : "", (double)(time_monotonic_us() - queued_us) / 1e3);
	task_complete_after(rq, task, NULL, NULL,
	                    &PG_CALL("INSERT INTO done (id, number) VALUES ($1::uuid, $2::int)",
	                             pg_text(task->id),
	                             pg_int(yyjson_get_int(
					     yyjson_obj_get(task->input, "number")))));
	done++;
	if (queued_us)
		uv_timer_again(&pause_timer);
}

static void queue_one(struct request *rq)
{
	queued_us = time_monotonic_us();
	pg_query(rq,
	         "SELECT (task_start('count', $1::uuid, jsonb_build_object('number', $2::int))).id",
	         pg_text("00000000-0000-7000-8000-000000000001"), pg_int(done));
}

static void on_pause(uv_timer_t *timer)
{
	uv_timer_stop(timer);
	if (done < wanted)
		request_spawn(timer->data, "bench", TIMEOUT_MS, queue_one, NULL, NULL);
}

static void queue_all(struct request *rq)
{
	pg_query(rq,
	         "SELECT count(*) FROM (SELECT task_put('count', md5((n % $2::int)::text)::uuid, "
	         "jsonb_build_object('number', n), NULL, NULL) FROM generate_series(1, $1::int) n) "
	         "t",
	         pg_int(wanted), pg_int(ACCOUNTS));
}

static void warm(struct request *rq)
{
	pg_query(rq, "SELECT 1");
}

static void run_all(struct worker *worker)
{
	while (request_list_count(worker->requests) > 0)
		uv_run(&worker->loop, UV_RUN_ONCE);
}

static void worker_setup(struct worker *worker, const char *url)
{
	char *searched;
	require(asprintf(&searched, "%s?options=-csearch_path%%3Dbench", url) > 0);
	uv_loop_init(&worker->loop);
	fiber_loop_attach(&worker->loop);
	worker->requests = request_list_new(&worker->loop);
	worker->pg = pg_pool_new(&worker->loop, &(struct pg_settings){.url = searched,
	                                                              .connections = CONNECTIONS,
	                                                              .pool_wait_ms = TIMEOUT_MS});
	free(searched);
	worker->redis = redis_new(&worker->loop, getenv("REDIS_URL"), NULL);
	worker->waker = waker_new(worker, "svc-bench", worker->process->job_wake);
	for (int i = 0; i < CONNECTIONS; i++)
		request_spawn(worker, "bench", TIMEOUT_MS, warm, NULL, NULL);
	run_all(worker);
	uv_timer_init(&worker->loop, &pause_timer);
	pause_timer.data = worker;
}

int main(int argc, char **argv)
{
	static const struct migration MIGRATIONS[] = {
		{"0001_done.sql", "CREATE TABLE done (id uuid PRIMARY KEY, number int NOT NULL);"},
		{NULL, NULL},
	};
	static const struct job JOBS[] = {{.kind = "count", .run = count}, {0}};
	static const struct event_stream NO_STREAMS[] = {{NULL}};
	static _Atomic bool is_migrated = true;
	static struct process process = {.instance = "bench"};
	static struct worker worker = {.process = &process};
	process.job_wake = job_wake_new();
	if (argc != 3 || !getenv("DATABASE_URL") || !getenv("REDIS_URL")) {
		fprintf(stderr, "usage: DATABASE_URL=... REDIS_URL=... jobs_runner JOBS "
		                "CONCURRENCY|latency\n");
		return 2;
	}
	log_init("bench", "error");
	require(migrate_run(getenv("DATABASE_URL"), "bench",
	                    &(struct schema){.migrations = MIGRATIONS}, NULL) == ERR_NONE);
	bool is_latency = strcmp(argv[2], "latency") == 0;
	wanted = (int)strtol(argv[1], NULL, 10);
	worker_setup(&worker, getenv("DATABASE_URL"));
	const struct tasks_settings settings = {
		.service = "svc-bench",
		.instance = process.instance,
		.jobs = JOBS,
		.streams = NO_STREAMS,
		.job_slots = is_latency ? LATENCY_SLOTS : (int)strtol(argv[2], NULL, 10),
		.wake = process.job_wake,
		.is_migrated = &is_migrated,
	};
	if (is_latency) {
		printf("{\"ms\": [");
		uv_timer_start(&pause_timer, on_pause, PAUSE_MS * 10, PAUSE_MS);
	} else {
		request_spawn(&worker, "bench", TIMEOUT_MS, queue_all, NULL, NULL);
		run_all(&worker);
	}
	double began = (double)time_monotonic_us() / 1e6, cpu = cpu_seconds();
	tasks_start(&worker, &settings);
	while (done < wanted)
		uv_run(&worker.loop, UV_RUN_ONCE);
	if (is_latency)
		printf("]}\n");
	else
		printf("{\"seconds\": %.3f, \"cpu\": %.3f}\n",
		       (double)time_monotonic_us() / 1e6 - began, cpu_seconds() - cpu);
	fflush(stdout);
	_exit(0);
}
