/** What streams tell about accounts and their experiments. */
#pragma once

#include "task/task.h"

/** `account.deleted` of events.account: removes everything that the account has here. */
void account_deleted(struct request *rq, const struct event *event);

/** `experiment.created`, `.updated` and `.deleted` of events.experiments: keeps what an interest's
 * experiment_history and refit need. */
void experiment_noted(struct request *rq, const struct event *event);
