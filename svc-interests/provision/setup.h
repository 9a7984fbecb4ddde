/** What the steps of provisioning do, and what else asks other services for it. Internal to this
 * folder. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

#define FIRST_RUN "first run"

/** A provisioning task while a step runs. */
struct provision {
	struct request *rq;
	yyjson_val *row; /* as the statement step_load describes it */
	/* What the step has found and made: members that are columns of provisioning, `changed`,
	 * and of `workflow` the version that it has committed, `committed_version`. */
	yyjson_mut_doc *doc;
	yyjson_mut_val *output;
	const char *message; /* for people; NULL: none */
	bool is_skipped;     /* there was nothing to do */
};

/** A step of the table in steps.c. It calls other services and sets the result members above; what
 * fails is raised, and the step is repeated or the task fails (job_fn in task/task.h). */
typedef void step_fn(struct provision *p);

void setup_repository(struct provision *p);
void setup_agent_key(struct provision *p);
void setup_model_key(struct provision *p);
void setup_workflow(struct provision *p);
void setup_pull_request(struct provision *p);
void setup_merge(struct provision *p);
void setup_installation(struct provision *p);
void setup_first_run(struct provision *p);

/** Return when the account can push to the repository, and the app can change it. Suspends. Raises
 * ERR_NOT_FOUND: the repository is not the account's; ERR_CONFLICT: the app is not installed there
 * or suspended, or the repository is archived or disabled; and what asking the code host raises. */
void setup_require_app(struct request *rq, const char *repo);

/** Whether the workflow that was last proposed is merged. Otherwise an agent that is at work goes
 * on with the one before. `row` as in struct provision. */
bool setup_is_merged(yyjson_val *row);

/** Start a run of the agent on the present default branch; once for each installation and occasion
 * (`first run`), however often it is called. `row` as in struct provision. Returns NULL, or why a
 * budget refuses the run. What the code host refuses is raised, and told to the account as a task
 * that has failed. */
const char *setup_dispatch(struct request *rq, yyjson_val *row, const char *occasion);

/** Revoke a key at the gateway. */
void setup_revoke_key(struct request *rq, const char *key_id);

/** Revoke the key of an interest's agent, if there is one: its id may be stored nowhere. */
void setup_revoke_key_of(struct request *rq, const char *interest);
