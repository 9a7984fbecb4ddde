/** svc-experiments/result/: results of experiments.
 *
 *     result.c           results are posted and read
 *     result_analysis.c  an analysis of results, made beside the loop, and stored
 *     eval_runs.c        results of evaluation runs, which svc-evalenv is asked for
 *     linked_run.c       runs that name an arm, whose results arrive by themselves
 *     compare.c          experiments beside each other
 *     sample_size.c      how many units an experiment will need
 *
 * An experiment keeps its newest 100 results: what came in (of rows only their number and digest)
 * and the analysis (analysis/output.h). The newest analysis gives the experiment its
 * `observed_delta` and `delta_confidence`, with an entry in its history; a value that somebody
 * types later stands until the next results. `outcome` and `decision` are a person's. */
#pragma once

#include "loop/request.h"

/** POST /experiments/{experiment_id}/results. */
void result_create(struct request *rq);

/** GET /experiments/{experiment_id}/results: the newest analysis, or with `all` the list. */
void result_get(struct request *rq);

/** GET /experiments/compare?ids=: experiments beside each other (analysis/side_by_side.h). */
void experiments_compare(struct request *rq);

/** POST /experiments/sample-size. */
void sample_size_get(struct request *rq);
