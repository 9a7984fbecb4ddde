/** Starting a run of an agent within the budgets of its account.
 *
 * svc-fleet reserves what the run may cost (svc-fleet/budget/), the workflow is dispatched, and the
 * reservation is attached to the run that the code host names. All of it is done under one key: who
 * does it again, because its process was killed in between, gets the same reservation and the same
 * run. What is reserved and never becomes a run expires. */
#pragma once

#include "client/service_ask.h"

/** What a start asks to reserve. */
struct agent_start {
	const char *key;              /* of the start */
	const char *repo;             /* `owner/name` */
	const char *interest;         /* NULL: that of the installation on the repository */
	const char *agent;            /* NULL: that of the installation, with its provider */
	const char *provider, *model; /* NULL: not known */
	bool is_over_budget;          /* start whatever is left of budgets */
	const char *by;               /* who starts it (audited_by()); NULL: svc-fleet's caller */
};

/** The body of the internal operation run_reserve, with the limits of the caller's key; in the
 * request's arena. */
const char *agent_start_body(struct request *rq, const struct agent_start *start);

/** Reserve. Returns NULL: the run may start; else why not, {"detail", "budget"}. A svc-fleet of the
 * former version reserves nothing. */
yyjson_val *agent_start_reserve(struct request *rq, const struct agent_start *start);

/** Raise ERR_BUDGET_REACHED. */
attr_noreturn void agent_start_refuse(struct request *rq, yyjson_val *refusal);

/** Dispatch the workflow, for a task: `key` is that of the start, `body` that of workflow_dispatch.
 * Releases the reservation when nothing was started, and raises. Where that is not known, or the
 * task tries again, it stays until it expires. Returns the answer. */
yyjson_val *agent_start_dispatch(struct request *rq, const char *key, const char *body);

/** Give the reservation of a start back that does not come to its dispatch. */
void agent_start_release(struct request *rq, const char *key);
