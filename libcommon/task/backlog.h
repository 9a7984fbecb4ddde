/** What waits in a service, and what it has given up, as metrics. Each process measures it,
 * whichever holds the leases: the holder may be the one that is stopped. Internal to this
 * folder. */
#pragma once

#include "task/tasks.h"

/** Measure, if tasks_timing.sweep has passed since the last time. What Redis knows is left out
 * while Redis is away. Suspends; raises. */
void backlog_measure(struct request *rq, struct tasks *tasks);
