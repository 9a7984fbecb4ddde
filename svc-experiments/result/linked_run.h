/** Results that arrive by themselves. A run names an experiment and an arm of it: an evaluation run
 * in its `params`, a run of an agent in its telemetry. When it has ended, svc-experiments reads of
 * it in an event, keeps it in `linked_run`, and a task analyses all runs of the arms so far:
 *
 *     events.eval run.*          svc-evalenv is asked for the results of each run (eval_runs.h)
 *     events.runs run.measured   the event has the numbers; a run is one value of each metric
 *     events.runs run.removed    the run was deleted, and the others are analysed without it
 *
 * Runs of arms that the plan does not have are left out and counted, unless there are no others.
 * What does not fit the plan becomes an analysis without a valid test that says why, since there is
 * nobody to answer. */
#pragma once

#include "task/task.h"

/** For the event `run.measured` of svc-fleet: keep what a run of an agent measured. */
void linked_run_measured(struct request *rq, const struct event *event);

/** For the event `run.removed` of svc-fleet: forget what the run has measured. */
void linked_run_removed(struct request *rq, const struct event *event);

/** The job `results_collect`: analyse the runs of `source` of an experiment. When none is left,
 * their analyses are set apart. */
void results_collect(struct request *rq, struct task *task);
