/** Experiments: what is being tried, how it stands, what came of it. */
#pragma once

#include "loop/request.h"

/** Handlers of the operations of that name. */
void experiment_list(struct request *rq);
void experiment_create(struct request *rq);
void experiment_get(struct request *rq);
void experiment_update(struct request *rq);
void experiment_delete(struct request *rq);

/** GET /implement/experiments/actionable: those with a launch context and no pull request. */
void experiment_actionable(struct request *rq);

/** The sentence of a 404. */
#define EXPERIMENT_MISSING "no such experiment"
