/** svc-interests/provision/: putting an agent to work on a repository for an interest.
 *
 *     provision.c        the operations
 *     steps.c            the task: a table of steps, each a row of provision_step
 *     setup.c            what each step does
 *     agent_commands.c   how a run installs and starts each agent
 *     preset.c           commands of agents that need no setting
 *     workflow_file.c    the workflow that the agent runs in (../workflow/expops.yml)
 *     proposal.c         proposing that file to those who own the repository
 *     renewal.c          doing so again when the product has a newer one
 *     schedule.c         when the agent starts by itself, and its pause
 *     follow.c           what the code host and the gateway tell later
 *
 * Each step asks another service for something that can be asked for again, and then stores in one
 * transaction that it is done and what it has found. So a task that stops anywhere goes on with the
 * step in which it stopped: what that step had made is found again, but for the agent's key, whose
 * text nobody can read again and which is replaced.
 *
 * Provisioning an interest again takes the same steps. They find what is there and make what is
 * missing or out of date. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** Check the settings of provisioning, for service.settings_check. */
enum err_code provision_settings_check(void);

/** The operations interest_provision, provision_task_get, provision_status_get and
 * provision_cli_token_create. */
void provision_start(struct request *rq);
void provision_task_get(struct request *rq);
void provision_status_get(struct request *rq);
void provision_cli_token_create(struct request *rq);

/** The jobs `provision`, `first_run` ({"interest_id", "repo"}) and `key_revoke` ({"key_id"}). */
void provision_run(struct request *rq, struct task *task);
void first_run_run(struct request *rq, struct task *task);
void key_revoke_run(struct request *rq, struct task *task);

/** Events of the code host: what becomes of the pull request that brings a workflow, and of the
 * app. */
void on_provision_pull_request(struct request *rq, const struct event *event);
void on_provision_app(struct request *rq, const struct event *event);

/** Event `key.revoked`: an agent's key has ended. */
void provision_key_revoked(struct request *rq, const struct event *event);
