/** The steps of a run. Internal to this folder. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

/** A run while a step is done. */
struct run {
	struct request *rq;
	yyjson_val *row; /* as the statement run_load describes it */
	/* What the step has found: members that are columns of implementation, and
	 * `branch_name`. */
	yyjson_mut_doc *doc;
	yyjson_mut_val *output;
	const char *message; /* for people */
};

/** A step of the table in steps.c. It calls other services and sets the result members above; what
 * fails is raised, and the step is repeated or the task fails (job_fn in task/task.h). */
typedef void step_fn(struct run *run);

void setup_context(struct run *run);
void setup_branch(struct run *run);
void setup_dispatch(struct run *run);

/** The names of the steps, in their order, with the last, `wait`, as a JSON array. */
const char *run_step_names(struct arena *arena);

/** The question of workflow_dispatch which run the task of a run has started, and that starts none.
 */
const char *run_known_body(struct request *rq, const char *repo, const char *task);
