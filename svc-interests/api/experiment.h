/** Stores what events say about the account's experiments. */
#pragma once

#include "task/task.h"

/** Handler of `experiment.created`, `experiment.updated` and `experiment.deleted` in the stream
 * events.experiments. The stored experiments are read for an interest's experiment_history and for
 * model fitting. */
void experiment_store(struct request *rq, const struct event *event);
