/** What events tell of the account's experiments. */
#pragma once

#include "task/task.h"

/** `experiment.created`, `.updated` and `.deleted` of events.experiments: keeps what an interest's
 * experiment_history and refit need. */
void experiment_noted(struct request *rq, const struct event *event);
