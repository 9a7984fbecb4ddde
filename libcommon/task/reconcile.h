/** The reconciler: queues tasks again that are due, or whose worker has stopped. Internal to this
 * folder. */
#pragma once

#include "task/tasks.h"

/** Pass of the reconciler (periodic.h), whose user is the struct tasks. It also fails tasks whose
 * last attempt was abandoned, deletes ended tasks after their retention, a batch in each pass, and
 * counts those that wait. Each replica runs it; the statements skip what another one has locked. */
void reconcile_pass(struct request *rq);
