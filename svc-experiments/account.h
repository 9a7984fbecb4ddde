/** Accounts: whose everything here is. */
#pragma once

#include "task/task.h"

/** The event account.deleted: remove all that the account had. */
void account_forget(struct request *rq, const struct event *event);
