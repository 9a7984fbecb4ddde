/** Stores what events say about pull requests and issues that runs of agents opened. */
#pragma once

#include "task/task.h"

/** Handler of `deliverable.open`, `.merged`, `.closed`, `.reverted` and `.withdrawn` in the stream
 * events.runs.
 * Merged and closed ones are examples for model fitting. */
void run_outcome_store(struct request *rq, const struct event *event);
