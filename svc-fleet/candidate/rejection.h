/** What the papers that runs passed over came to elsewhere: whether a gate was right. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** GET /fleet/outcomes/rejections */
void rejections_get(struct request *rq);

/** Events `experiment.created`, `.updated` and `.deleted` of events.experiments: what became of
 * experiments counts for the papers that they name. */
void rejection_experiment_store(struct request *rq, const struct event *event);
