/** The reconciler: makes the stream match the table `task` after entries or workers were lost. Internal
 * to this folder. */
#pragma once

#include "task/tasks.h"

/** Pass of the reconciler (periodic.h), whose user is the struct tasks: removes entries of workers
 * that have stopped, fails tasks whose last attempt was abandoned, and publishes due tasks that have
 * no entry. One replica at a time, by a lease; every step may also be done twice. */
void reconcile_pass(struct request *rq);
