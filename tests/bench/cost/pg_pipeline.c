/* Statements per second and CPU time per statement of this process: the pipelined pool compared
 * with one PQexecPrepared() at a time.
 *
 *     pg_pipeline [URL] [STATEMENTS]
 *
 * Default URL: DATABASE_URL. The database is only read.
 */
#include "base/timefmt.h"
#include "cpu_time.h"
#include "loop/fiber.h"
#include "loop/request.h"
#include "loop/request_list.h"
#include "loop/worker.h"
#include "pg/pg.h"

#include <libpq-fe.h>

#include <stdio.h>
#include <stdlib.h>

#define SKIPPED    77
#define STATEMENT  "/* read */ SELECT $1::int + 1, now()"
#define TIMEOUT_MS 600000

struct sample {
	double seconds, cpu_seconds;
};

static struct sample begin(void)
{
	return (struct sample){(double)time_monotonic_us() / 1e6, cpu_seconds()};
}

static struct sample since(struct sample start)
{
	struct sample now = begin();
	return (struct sample){now.seconds - start.seconds, now.cpu_seconds - start.cpu_seconds};
}

static struct sample run_plain(const char *url, int statements)
{
	PGconn *pg = PQconnectdb(url);
	PQclear(PQprepare(pg, "s", STATEMENT, 0, NULL));
	struct sample start = begin();
	for (int i = 0; i < statements; i++) {
		char text[16];
		const char *const values[] = {text};
		snprintf(text, sizeof(text), "%d", i);
		PGresult *result = PQexecPrepared(pg, "s", 1, values, NULL, NULL, 0);
		require(strtol(PQgetvalue(result, 0, 0), NULL, 10) == i + 1);
		PQclear(result);
	}
	struct sample taken = since(start);
	PQfinish(pg);
	return taken;
}

static int left;

static void run_statement(struct request *rq)
{
	int i = left--;
	struct pg_rows *rows = pg_query(rq, STATEMENT, pg_int(i));
	require(pg_value_int(rows, 0) == i + 1);
}

/* Start the next request when one has ended. As in a service, each request runs one statement. */
static void start_next(struct request *rq)
{
	require(rq->problem.code == ERR_NONE);
	if (left > 0)
		request_spawn(rq->worker, "bench", TIMEOUT_MS, run_statement, start_next, NULL);
}

static void run_requests(struct worker *worker, int statements, int at_once)
{
	left = statements;
	for (int i = 0; i < at_once && left > 0; i++)
		request_spawn(worker, "bench", TIMEOUT_MS, run_statement, start_next, NULL);
	while (request_list_count(worker->requests) > 0)
		uv_run(&worker->loop, UV_RUN_ONCE);
}

static struct sample run_pool(const char *url, int statements, int at_once, int connections)
{
	struct worker worker = {0};
	uv_loop_init(&worker.loop);
	fiber_loop_attach(&worker.loop);
	worker.requests = request_list_new(&worker.loop);
	worker.pg = pg_pool_new(&worker.loop,
	                        &(struct pg_settings){.url = url, .connections = connections});
	run_requests(&worker, at_once, at_once);
	struct sample start = begin();
	run_requests(&worker, statements, at_once);
	struct sample taken = since(start);
	pg_pool_free(worker.pg);
	request_list_free(worker.requests);
	fiber_loop_detach(&worker.loop);
	uv_run(&worker.loop, UV_RUN_DEFAULT);
	uv_loop_close(&worker.loop);
	fiber_thread_free();
	return taken;
}

static void print(const char *name, int statements, struct sample taken, struct sample plain)
{
	printf("%-34s %8.0f statements/s  %6.1f us CPU each  %5.2f x\n", name,
	       statements / taken.seconds, taken.cpu_seconds / statements * 1e6,
	       plain.seconds / taken.seconds);
}

int main(int argc, char **argv)
{
	const char *url = argc > 1 ? argv[1] : getenv("DATABASE_URL");
	int statements = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 20000;
	if (!url || url[0] == '\0') {
		fprintf(stderr, "skipped: no URL given and DATABASE_URL is not set\n");
		return SKIPPED;
	}
	struct sample plain = run_plain(url, statements);
	print("PQexecPrepared(), one at a time", statements, plain, plain);
	print("pool, 1 request at a time", statements, run_pool(url, statements, 1, 1), plain);
	print("pool, 64 requests, 1 connection", statements, run_pool(url, statements, 64, 1),
	      plain);
	print("pool, 64 requests, 4 connections", statements, run_pool(url, statements, 64, 4),
	      plain);
	return 0;
}
