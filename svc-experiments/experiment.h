/** svc-experiments/: experiments, the projects that group them, and what a coding agent needs to
 * implement one. Entry points: the handlers in this header, project.h and implementation.h, and the
 * command in seed.h; main.c lists them.
 *
 * An experiment has a hypothesis, a status, an outcome and a history of its changes. */
#pragma once

#include "loop/request.h"

/** Handlers of the operations experiments_list, experiment_create and so on. */
void experiment_list(struct request *rq);
void experiment_create(struct request *rq);
void experiment_get(struct request *rq);
void experiment_update(struct request *rq);
void experiment_delete(struct request *rq);

/** GET /implement/experiments/actionable: experiments with a launch context and no pull request. */
void experiment_actionable(struct request *rq);

/** Raise ERR_FORBIDDEN when the caller's key is limited to a repository and the experiment has
 * another target. */
void experiment_require_repo(struct request *rq, const char *id);

/** The detail of a 404. */
#define EXPERIMENT_MISSING "no such experiment"
