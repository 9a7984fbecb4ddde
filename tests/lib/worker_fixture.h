/** A worker without a process around it: its loop, its requests, its fibers, for tests of what suspends. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fiber.h"
#include "request.h"
#include "request_run.h"
#include "worker.h"

#define FIXTURE_PATIENCE_MS 20000 /* a test that waits longer has failed */

struct worker_fixture {
	struct process_settings settings;
	struct process process;
	struct worker worker;
	uv_timer_t patience;
	bool is_late;
};

static inline void fixture_late(uv_timer_t *timer)
{
	struct worker_fixture *fixture = timer->data;
	fixture->is_late = true;
}

static inline void fixture_start(struct worker_fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->process.settings = &fixture->settings;
	fixture->process.worker_count = 1;
	fixture->process.workers = &fixture->worker;
	fixture->process.instance = "test";
	fixture->worker.process = &fixture->process;
	assert_int_equal(uv_loop_init(&fixture->worker.loop), 0);
	fiber_loop_attach(&fixture->worker.loop);
	fixture->worker.requests = request_list_new(&fixture->worker.loop);
	uv_timer_init(&fixture->worker.loop, &fixture->patience);
	fixture->patience.data = fixture;
}

/** What the test hung on the worker (Redis, Postgres, fetcher) is freed already; every request has
 * ended. */
static inline void fixture_stop(struct worker_fixture *fixture)
{
	request_list_free(fixture->worker.requests);
	uv_close((uv_handle_t *)&fixture->patience, NULL);
	fiber_loop_detach(&fixture->worker.loop);
	uv_run(&fixture->worker.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&fixture->worker.loop), 0);
	fiber_thread_free();
}

/** Run the loop until `*flag`; the test fails when that takes too long. */
static inline void fixture_until(struct worker_fixture *fixture, const volatile bool *flag)
{
	fixture->is_late = false;
	uv_timer_start(&fixture->patience, fixture_late, FIXTURE_PATIENCE_MS, 0);
	while (!*flag && !fixture->is_late)
		uv_run(&fixture->worker.loop, UV_RUN_ONCE);
	uv_timer_stop(&fixture->patience);
	assert_true(*flag);
}

/** Run the loop until no request is under way. */
static inline void fixture_idle(struct worker_fixture *fixture)
{
	fixture->is_late = false;
	uv_timer_start(&fixture->patience, fixture_late, FIXTURE_PATIENCE_MS, 0);
	while (request_list_count(fixture->worker.requests) > 0 && !fixture->is_late)
		uv_run(&fixture->worker.loop, UV_RUN_ONCE);
	uv_timer_stop(&fixture->patience);
	assert_int_equal(request_list_count(fixture->worker.requests), 0);
}

/** Run `fn` as a request to its end. */
static inline void fixture_run(struct worker_fixture *fixture, request_fn *fn, void *user)
{
	request_spawn(&fixture->worker, "test", FIXTURE_PATIENCE_MS, fn, NULL, user);
	fixture_idle(fixture);
}
