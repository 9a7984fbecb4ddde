#include "main/background.h"

#include "pg/pg.h"
#include "service/fill.h"
#include "service/process.h"
#include "service/service.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

struct background {
	struct worker *worker;
	struct tasks *tasks;          /* NULL: the process has not the role */
	struct event_handler *events; /* that `tasks` borrows, and: */
	struct recurring *recurring;
	/* Drain: of `tasks` and of the service. */
	int draining_count;
	void (*drained)(void *context);
	void *drained_context;
};

/* Of an account with millions of rows. */
#define FORGET_TIMEOUT_MS ((uint64_t)30 * 60 * 1000)

/* The service's own rows of the account, and those of the common tables. */
static void forget_account(struct request *rq, const struct event *event)
{
	struct pg_param account = pg_text(event->account);
	pg_begin(rq);
	pg_query(rq, "SELECT account_forget($1)", account);
	pg_query(rq, "DELETE FROM task WHERE account_id = $1", account);
	pg_query(rq, "DELETE FROM outbox WHERE account_id = $1", account);
	pg_commit(rq);
}

/* The service's event handlers and the one for keeps_accounts. The caller frees the table. */
static struct event_handler *event_handlers(const struct service *service)
{
	static const struct event_handler DELETED = {"events.account", "account.deleted",
	                                             forget_account, FORGET_TIMEOUT_MS};
	size_t count = 0;
	while (service->events && service->events[count].stream)
		count++;
	struct event_handler *handlers = calloc(count + 2, sizeof(*handlers));
	require(handlers);
	if (count)
		memcpy(handlers, service->events, count * sizeof(*handlers));
	if (service->keeps_accounts)
		handlers[count] = DELETED;
	return handlers;
}

/* The service's recurring work, and that of every schema. The caller frees the table. */
static struct recurring *recurring_work(const struct service *service)
{
	static const struct recurring FILLS = {"fills", fills_go_on, &FILLS_EVERY_MS};
	size_t count = 0;
	while (service->recurring && service->recurring[count].name)
		count++;
	struct recurring *work = calloc(count + 2, sizeof(*work));
	require(work);
	if (count)
		memcpy(work, service->recurring, count * sizeof(*work));
	work[count] = FILLS;
	return work;
}

static struct tasks *start_tasks(const struct background *background)
{
	struct process *process = background->worker->process;
	const struct tasks_settings settings = {
		.service = process->service->name,
		.instance = process->instance,
		.jobs = process->service->jobs,
		.events = background->events,
		.recurring = background->recurring,
		.job_slots = (int)process->settings->job_slots,
		.retention_days = (int)process->settings->task_retention_days,
		.pending_max = (int)process->settings->tasks_pending_max,
		.lease_ms = (uint64_t)process->settings->job_lease_ms,
		.wake = process->job_wake,
		.is_migrated = &process->is_migrated,
	};
	return tasks_start(background->worker, &settings);
}

struct background *background_start(struct worker *worker)
{
	const struct service *service = worker->process->service;
	struct background *background = calloc(1, sizeof(*background));
	require(background);
	background->worker = worker;
	if (worker->process->roles.has_jobs) {
		background->events = event_handlers(service);
		background->recurring = recurring_work(service);
		background->tasks = start_tasks(background);
	}
	if (service->background_start)
		service->background_start(worker);
	return background;
}

void background_recur(struct background *background)
{
	if (background)
		tasks_recur(background->tasks);
}

static void on_part_drained(void *context)
{
	struct background *background = context;
	if (--background->draining_count == 0)
		background->drained(background->drained_context);
}

void background_drain(struct background *background, uint64_t timeout_ms,
                      void (*drained)(void *context), void *context)
{
	const struct service *service = background->worker->process->service;
	background->drained = drained;
	background->drained_context = context;
	background->draining_count = 1; /* until both parts have been asked to drain */
	if (background->tasks) {
		background->draining_count++;
		tasks_drain(background->tasks, timeout_ms, on_part_drained, background);
	}
	if (service->background_drain) {
		background->draining_count++;
		service->background_drain(background->worker, timeout_ms, on_part_drained,
		                          background);
	}
	on_part_drained(background);
}

void background_end(struct background *background)
{
	tasks_give_up_leases(background->tasks);
}

void background_free(struct background *background)
{
	if (!background)
		return;
	const struct service *service = background->worker->process->service;
	if (service->background_stop)
		service->background_stop(background->worker);
	tasks_free(background->tasks);
	free(background->events);
	free(background->recurring);
	free(background);
}
