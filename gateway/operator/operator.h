/** gateway/operator/: what an operator sees of the tasks and dead letters of all services together,
 * and does with them. Each service is asked for its own (operator/task_operations.h), all at once.
 *
 * A service that does not answer is left out of what is only shown, and named in the field
 * X-Left-Out; a change is then refused after the others have made theirs, and may be repeated. */
#pragma once

#include "loop/request.h"

/** GET /tasks, newest first. */
void tasks_list(struct request *rq);

/** GET /tasks/summary: what waits, and how the last hours went, of each service. */
void tasks_summary_get(struct request *rq);

/** POST /tasks/retry: let dead letters run again, or drop them. */
void tasks_retry(struct request *rq);
