/** A worker without a running process, for tests of code that suspends: a loop, requests and
 * fibers. */
#pragma once

#include "loop/fiber.h"
#include "loop/request.h"
#include "loop/request_list.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "service/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FIXTURE_TIMEOUT_MS 120000 /* a test that waits longer has failed */
#define FIXTURE_TICK_MS    5      /* the loop turns at least this often */

struct worker_fixture {
	struct process_settings settings;
	struct process process;
	struct worker worker;
	uv_timer_t tick;
	int ticks_left;
};

static inline void fixture_tick(uv_timer_t *timer)
{
	struct worker_fixture *fixture = timer->data;
	fixture->ticks_left--;
}

static inline void fixture_start(struct worker_fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	log_set_id_source(fiber_label);
	fixture->process.settings = &fixture->settings;
	fixture->process.peers.url = fixture->settings.service_url;
	fixture->worker.peers = &fixture->process.peers;
	fixture->process.worker_count = 1;
	fixture->process.workers = &fixture->worker;
	fixture->process.instance = "test";
	fixture->worker.process = &fixture->process;
	assert_int_equal(uv_loop_init(&fixture->worker.loop), 0);
	fiber_loop_attach(&fixture->worker.loop);
	fixture->worker.requests = request_list_new(&fixture->worker.loop);
	uv_timer_init(&fixture->worker.loop, &fixture->tick);
	fixture->tick.data = fixture;
}

/** Stop the worker. The test has freed the clients that it set (Redis, Postgres, fetcher), and
 * every request has ended. */
static inline void fixture_stop(struct worker_fixture *fixture)
{
	request_list_free(fixture->worker.requests);
	uv_close((uv_handle_t *)&fixture->tick, NULL);
	fiber_loop_detach(&fixture->worker.loop);
	uv_run(&fixture->worker.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&fixture->worker.loop), 0);
	fiber_thread_free();
}

/** Run one turn of the loop; fails the test on time-out. Call fixture_wait_start() first. */
static inline void fixture_turn(struct worker_fixture *fixture)
{
	assert_true(fixture->ticks_left > 0);
	uv_run(&fixture->worker.loop, UV_RUN_ONCE);
}

static inline void fixture_wait_start(struct worker_fixture *fixture)
{
	fixture->ticks_left = FIXTURE_TIMEOUT_MS / FIXTURE_TICK_MS;
	uv_timer_start(&fixture->tick, fixture_tick, FIXTURE_TICK_MS, FIXTURE_TICK_MS);
}

/** Run the loop until `*flag` is true; fails the test on time-out. */
static inline void fixture_until(struct worker_fixture *fixture, const volatile bool *flag)
{
	fixture_wait_start(fixture);
	while (!*flag)
		fixture_turn(fixture);
	uv_timer_stop(&fixture->tick);
}

/** Run the loop until no request is running. */
static inline void fixture_idle(struct worker_fixture *fixture)
{
	fixture_wait_start(fixture);
	while (request_list_count(fixture->worker.requests) > 0)
		fixture_turn(fixture);
	uv_timer_stop(&fixture->tick);
}

static request_fn *fixture_fn;
static struct request *fixture_started;

static inline void fixture_main(struct request *rq)
{
	fixture_started = rq;
	fixture_fn(rq);
}

/** Start `fn` as a request that suspends, and return it, so that the test can wake or cancel it. */
static inline struct request *fixture_spawn(struct worker_fixture *fixture, request_fn *fn,
                                            request_fn *done, void *user)
{
	size_t before = request_list_count(fixture->worker.requests);
	fixture_fn = fn;
	request_spawn(&fixture->worker, "test", FIXTURE_TIMEOUT_MS, fixture_main, done, user);
	assert_true(request_list_count(fixture->worker.requests) > before);
	return fixture_started;
}

/** Run `fn` as a request to its end. */
static inline void fixture_run(struct worker_fixture *fixture, request_fn *fn, void *user)
{
	request_spawn(&fixture->worker, "test", FIXTURE_TIMEOUT_MS, fn, NULL, user);
	fixture_idle(fixture);
}
