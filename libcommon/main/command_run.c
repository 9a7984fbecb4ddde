#include "main/command_run.h"

#include "base/terminal.h"
#include "loop/fiber.h"
#include "loop/request_list.h"
#include "main/database_prepare.h"
#include "main/worker_clients.h"
#include "service/service.h"

#include <stdio.h>

#define ENDING_POLL_MS     20
#define DATABASE_WAIT_MS   10000 /* a command waits for a database that restarts */
#define COMMAND_TIMEOUT_MS (UINT64_C(365) * 24 * 3600 * 1000)

/* A command that runs in a fiber, and its outcome. */
struct running_command {
	request_fn *run;
	void *user;
	enum err_code code;
	uv_timer_t ending;
};

/* What the command has started besides, such as the plan of a slow statement, ends first. */
static void free_when_idle(uv_timer_t *timer)
{
	struct worker *worker = timer->data;
	if (request_list_count(worker->requests))
		return;
	uv_close((uv_handle_t *)timer, NULL);
	worker_clients_free(worker);
}

static void command_main(struct request *rq)
{
	struct running_command *command = rq->user;
	rq->user = command->user;
	command->run(rq);
}

static void command_ended(struct request *rq)
{
	struct running_command *command = rq->worker->user;
	command->code = rq->problem.code;
	if (command->code)
		fprintf(stderr, "%s: %s\n", rq->worker->process->service->name,
		        terminal_text(rq->arena, problem_detail(rq->arena, &rq->problem)));
	request_list_cancel(rq->worker->requests, ERR_UNAVAILABLE);
	uv_timer_start(&command->ending, free_when_idle, 0, ENDING_POLL_MS);
}

/* Run `fn` on a loop with the clients that `make_clients` makes. Returns the exit status. */
static int run_alone(struct process *process, void (*make_clients)(struct worker *worker),
                     request_fn *fn, void *user)
{
	struct running_command command = {.run = fn, .user = user};
	struct worker worker = {.process = process, .user = &command};
	process->workers = &worker;
	process->worker_count = 1;
	require(uv_loop_init(&worker.loop) == 0);
	make_clients(&worker);
	uv_timer_init(&worker.loop, &command.ending);
	command.ending.data = &worker;
	request_spawn(&worker, "command", COMMAND_TIMEOUT_MS, command_main, command_ended,
	              &command);
	uv_run(&worker.loop, UV_RUN_DEFAULT);
	fiber_thread_free();
	uv_loop_close(&worker.loop);
	return command.code ? 1 : 0;
}

int outside_run(struct process *process, request_fn *fn, void *user)
{
	return run_alone(process, worker_clients_make_outside, fn, user);
}

int command_run(struct process *process, request_fn *fn, void *user)
{
	enum err_code code = database_prepare(process);
	for (int waited_ms = 0; code == ERR_UNAVAILABLE && waited_ms < DATABASE_WAIT_MS;
	     waited_ms += DATABASE_RETRY_MS) {
		uv_sleep(DATABASE_RETRY_MS);
		code = database_prepare(process);
	}
	if (code) {
		fprintf(stderr, "%s: the database cannot be brought up to date\n",
		        process->service->name);
		return 1;
	}
	process->is_migrated = true;
	return run_alone(process, worker_clients_make, fn, user);
}
