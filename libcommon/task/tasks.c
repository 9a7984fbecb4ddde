#include "task/tasks.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "task/dead.h"
#include "task/events.h"
#include "task/job_claim.h"
#include "task/job_run.h"
#include "task/outbox.h"
#include "task/reconcile.h"
#include "task/stream_trim.h"
#include "task/wake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS            100 /* between two checks that the schema is migrated, or a drain over */
#define PASS_TIMEOUT_MS    30000
#define GIVE_UP_TIMEOUT_MS 2000
#define SLOW_US            1000000 /* above tasks_timing.quick */

struct tasks_timing tasks_timing = {
	.lease = 30000,
	.sweep = 5000,
	.reconcile = 5000,
	.trim = 10000,
	.block = 5000,
	.retry = 1000,
	.retry_max = 60000,
	.interrupted_max = 24 * 3600 * 1000,
	.quick = 50,
	.keep = 20000,
	.stream_max = 100000,
	.late = 1000,
};

static char *key_of(const char *format, const char *service)
{
	char *key;
	require(asprintf(&key, format, service) > 0);
	return key;
}

/* Dead letters are to be tried again (dead.h). */
static void retry_all(struct tasks *tasks)
{
	if (tasks->reconciler)
		periodic_wake(tasks->reconciler);
	events_retry(tasks);
}

/* After a new connection, any message may have been missed. */
static void on_outbox(void *context, const char *message, size_t length, bool is_up)
{
	struct tasks *tasks = context;
	bool is_retry = is_up || (message && length == strlen(OUTBOX_RETRY) &&
	                          memcmp(message, OUTBOX_RETRY, length) == 0);
	if (!tasks->is_started || !(message || is_up))
		return;
	periodic_wake(tasks->relay); /* also during a drain: other processes wait for its lease */
	if (is_retry && !tasks->is_draining)
		retry_all(tasks);
}

static struct periodic *start_periodic(struct tasks *tasks, const char *name, request_fn *run,
                                       uint64_t every_ms, uint64_t timeout_ms)
{
	struct periodic *periodic =
		periodic_new(tasks->worker, name, run, tasks, every_ms, timeout_ms);
	periodic_wake(periodic);
	return periodic;
}

/* Each kind counts as slow at first. */
static uint64_t *new_averages(const struct job *jobs)
{
	size_t count = 0;
	while (jobs[count].kind)
		count++;
	uint64_t *averages = calloc(count + 1, sizeof(*averages));
	require(averages);
	for (size_t i = 0; i < count; i++)
		averages[i] = SLOW_US;
	return averages;
}

static void start_jobs(struct tasks *tasks)
{
	job_metrics_start(tasks->settings.jobs);
	tasks->usual_us = new_averages(tasks->settings.jobs);
	tasks->listener_connection = redis_blocking_new(tasks->worker->redis);
	tasks->announced = 1; /* of those from before the start */
	tasks->lease_renewer = start_periodic(tasks, "leases", job_claim_renew_pass,
	                                      PERIODIC_WHEN_WOKEN, PASS_TIMEOUT_MS);
	tasks->reconciler = start_periodic(tasks, "reconciler", reconcile_pass,
	                                   tasks_timing.reconcile, PASS_TIMEOUT_MS);
	tasks->listener = periodic_new(tasks->worker, "job entries", wake_listen_pass, tasks,
	                               PERIODIC_WHEN_WOKEN, PASS_TIMEOUT_MS);
	tasks->reader =
		start_periodic(tasks, "jobs", job_claim_pass, PERIODIC_WHEN_WOKEN, PASS_TIMEOUT_MS);
}

static void recurring_pass(struct request *rq)
{
	const struct recurring *recurring = periodic_user(rq);
	recurring->run(rq);
}

static void start_recurring(struct tasks *tasks)
{
	const struct recurring *row = tasks->settings.recurring;
	for (size_t i = 0; row && row->name; i++, row++) {
		require(i < TASKS_RECURRING_MAX);
		tasks->recurring[i] =
			periodic_new(tasks->worker, row->name, recurring_pass, (void *)row,
		                     (uint64_t)*row->every_ms, PASS_TIMEOUT_MS);
		periodic_wake(tasks->recurring[i]);
	}
}

void tasks_recur(struct tasks *tasks)
{
	for (size_t i = 0; tasks && i < TASKS_RECURRING_MAX; i++)
		if (tasks->recurring[i])
			periodic_wake(tasks->recurring[i]);
}

/* Each process measures, whichever holds the leases: the holder may be the one that is stopped. */
static void measure_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	outbox_measure(rq, tasks);
	if (!redis_is_ready(rq->worker->redis))
		return;
	events_measure(rq, tasks);
	dead_letters_measure(rq, tasks->settings.service);
}

static void start_parts(struct tasks *tasks)
{
	tasks->is_started = true;
	tasks->relay =
		start_periodic(tasks, "outbox", outbox_pass, tasks_timing.sweep, PASS_TIMEOUT_MS);
	tasks->meter =
		start_periodic(tasks, "backlog", measure_pass, tasks_timing.sweep, PASS_TIMEOUT_MS);
	tasks->trimmer = start_periodic(tasks, "streams", stream_trim_pass, tasks_timing.trim,
	                                PASS_TIMEOUT_MS);
	if (tasks->settings.jobs && tasks->settings.jobs->kind)
		start_jobs(tasks);
	events_start(tasks);
	start_recurring(tasks);
}

static void on_migration_wait(uv_timer_t *timer)
{
	struct tasks *tasks = timer->data;
	if (!*tasks->settings.is_migrated)
		return;
	uv_timer_stop(timer);
	start_parts(tasks);
}

static void finish_drain(struct tasks *tasks)
{
	void (*drained)(void *) = tasks->drained;
	if (!drained)
		return;
	tasks->drained = NULL;
	uv_timer_stop(&tasks->timer);
	periodic_stop(tasks->relay);
	periodic_stop(tasks->reader);
	periodic_stop(tasks->lease_renewer);
	drained(tasks->drained_context);
}

static void on_drain_wait(uv_timer_t *timer)
{
	struct tasks *tasks = timer->data;
	bool is_over = tasks->runs_count == 0 && events_are_idle(tasks) &&
	               (!tasks->reader || periodic_is_idle(tasks->reader));
	if (is_over || time_monotonic_ms() >= tasks->drain_until_ms)
		finish_drain(tasks);
}

/* A run has ended: check at once whether the drain is over. */
static void check_drained(struct tasks *tasks)
{
	if (tasks->is_draining && tasks->drained)
		uv_timer_start(&tasks->timer, on_drain_wait, 0, WAIT_MS);
}

struct tasks *tasks_start(struct worker *worker, const struct tasks_settings *settings)
{
	struct tasks *tasks = calloc(1, sizeof(*tasks));
	require(tasks);
	if (settings->lease_ms)
		tasks_timing.lease = settings->lease_ms;
	tasks->worker = worker;
	tasks->settings = *settings;
	tasks->streams = settings->streams ? settings->streams : EVENT_STREAMS;
	tasks->own_stream = event_stream_of_writer(tasks->streams, settings->service);
	tasks->jobs_stream = key_of(JOBS_STREAM, settings->service);
	tasks->batch_key = key_of("batch.%s", settings->service);
	tasks->fence_key = key_of("fence.%s", settings->service);
	tasks->relay_lease.name = "outbox";
	tasks->reconciler_lease.name = "reconcile";
	tasks->run_ended = check_drained;
	LIST_INIT(&tasks->runs);
	SLIST_INIT(&tasks->consumers);
	job_wake_open(settings->wake, tasks, job_claim_look);
	uv_timer_init(&worker->loop, &tasks->timer);
	tasks->timer.data = tasks;
	uv_timer_start(&tasks->timer, on_migration_wait, 0, WAIT_MS);
	char *channel = key_of(OUTBOX_CHANNEL, settings->service);
	redis_subscribe(worker->redis, channel, on_outbox, tasks);
	free(channel);
	return tasks;
}

void tasks_drain(struct tasks *tasks, uint64_t deadline_ms, void (*drained)(void *), void *context)
{
	tasks->is_draining = true;
	tasks->drained = drained;
	tasks->drained_context = context;
	tasks->drain_until_ms = time_monotonic_ms() + deadline_ms;
	struct periodic *const stopped[] = {tasks->reconciler, tasks->meter, tasks->trimmer};
	for (size_t i = 0; i < ARRAY_LEN(stopped); i++)
		periodic_stop(stopped[i]);
	for (size_t i = 0; i < TASKS_RECURRING_MAX; i++)
		periodic_stop(tasks->recurring[i]);
	events_stop(tasks);
	if (tasks->reader)
		job_claim_stop(tasks);
	uv_timer_start(&tasks->timer, on_drain_wait, 0, WAIT_MS);
}

static void give_up_leases(struct request *rq)
{
	const struct tasks *tasks = rq->user;
	lease_give_up_all(rq, tasks->settings.instance);
}

static void leases_given_up(struct request *rq)
{
	if (rq->problem.code != ERR_NONE)
		log_warn("leases not given up, they expire", f_text("error", rq->problem.detail));
}

void tasks_give_up_leases(struct tasks *tasks)
{
	if (tasks && tasks->is_started)
		request_spawn(tasks->worker, "leases", GIVE_UP_TIMEOUT_MS, give_up_leases,
		              leases_given_up, tasks);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void tasks_free(struct tasks *tasks)
{
	if (!tasks)
		return;
	require(tasks->runs_count == 0);
	struct periodic *const periodics[] = {tasks->relay,         tasks->meter,
	                                      tasks->reader,        tasks->listener,
	                                      tasks->lease_renewer, tasks->reconciler,
	                                      tasks->trimmer};
	for (size_t i = 0; i < ARRAY_LEN(periodics); i++) {
		periodic_stop(periodics[i]);
		periodic_free(periodics[i]);
	}
	for (size_t i = 0; i < TASKS_RECURRING_MAX; i++) {
		periodic_stop(tasks->recurring[i]);
		periodic_free(tasks->recurring[i]);
	}
	events_stop(tasks);
	events_free(tasks);
	redis_blocking_free(tasks->listener_connection);
	job_wake_close(tasks->settings.wake);
	free(tasks->usual_us);
	free(tasks->jobs_stream);
	free(tasks->batch_key);
	free(tasks->fence_key);
	uv_close((uv_handle_t *)&tasks->timer, on_closed);
}
