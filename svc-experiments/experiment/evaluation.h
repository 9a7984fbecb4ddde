/** Results of evaluations that name an experiment in `params.experiment_id` of their run. */
#pragma once

#include "task/task.h"

/** Events of `events.eval`: the result becomes a member of the experiment's
 * `ab_test_results.eval_runs`. */
void evaluation_store(struct request *rq, const struct event *event);
