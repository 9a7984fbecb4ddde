/** svc-experiments/experiment/: experiments, and the projects that group them.
 *
 *     experiment.c  an experiment has a hypothesis, a status, an outcome and a history of its changes
 *     key_experiments.c  which of them a limited key may see
 *     project.c     projects
 *     evaluation.c  stores the results of evaluation runs in their experiments
 *     seed.c        the command that loads experiments and projects from a file
 *     fields.c      their input as tables of fields */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** EXPERIMENTS_MAX. */
extern const struct setting EXPERIMENT_SETTINGS[];

/** Handlers of the operations experiments_list, experiment_create and so on. */
void experiment_list(struct request *rq);
void experiment_create(struct request *rq);
void experiment_get(struct request *rq);
void experiment_update(struct request *rq);
void experiment_delete(struct request *rq);

/** GET /implement/experiments/actionable: experiments with a launch context and no pull request. */
void experiment_actionable(struct request *rq);

/** The detail of a 404. */
#define EXPERIMENT_MISSING "no such experiment"
