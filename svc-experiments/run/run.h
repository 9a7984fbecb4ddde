/** svc-experiments/run/: implementing an experiment on the server: an agent's workflow is started
 * in the target repository.
 *
 *     run.c     the operation, and the settings
 *     steps.c   the task: a table of steps, each a row of implementation_step
 *     setup.c   what each step does
 *     follow.c  what becomes of a run: events of the code host, the deadline, and asking the code
 *               host
 *
 * The task assembles the brief, writes it to a branch and dispatches the workflow that provisioning
 * has put into the repository. Each step asks another service for something that can be asked for
 * again, and then stores in one transaction that it is done and what it has found; so a task that
 * stops anywhere goes on with the step in which it stopped.
 *
 * After that the run waits, without a task. A report of the agent (implementation.h) ends it, or
 * what the code host says of the workflow run and its pull request. An event only makes the job
 * `implementation_check` ask the code host, since an event does not say whether a pull request
 * comes from a fork, whose branches anybody can name. It also asks every quarter of an hour and at
 * the deadline, so that no lost event leaves a run without an end. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** RUN_DEADLINE, RUN_CHECK. */
extern const struct setting RUN_SETTINGS[];
extern int64_t run_deadline_ms;    /* from the dispatch */
extern int64_t run_check_every_ms; /* between two looks for runs that are due to be checked */

/** POST /implement/experiments/{experiment_id}/run */
void run_start(struct request *rq);

/** The jobs `implementation` and `implementation_check` ({"experiment_id", "attempt"}),,
 * `workflow_cancel` ({"repo", "task_id", "run_id"}), and `reservation_release` ({"key"}) for a run
 * that failed before its dispatch. */
void run_job(struct request *rq, struct task *task);
void run_check(struct request *rq, struct task *task);
void run_workflow_cancel(struct request *rq, struct task *task);
void run_reservation_release(struct request *rq, struct task *task);

/** Events `pull_request` and `workflow_run` of the code host. */
void on_run_pull_request(struct request *rq, const struct event *event);
void on_run_workflow(struct request *rq, const struct event *event);

/** Recurring: let the runs that are due be checked. */
void run_check_due(struct request *rq);
