/** POST /internal/eval/results: what a run gave, for svc-experiments.
 *
 *     {"run_id": "0190…", "repo": "acme/ranker"}
 *     {"run_id", "status", "error_kind", "has_begun", "template_digest", "seed",
 *      "metrics": {"accuracy": 0.7}, "examples": [{"id", "group", "sample", "metrics"}]}
 *
 * `repo`: the caller's key is limited to that repository, and a run of another does not exist for
 * it. `has_begun` is whether anybody has worked at it. `seed` is that of the run's `params`,
 * `examples` those of its `results` without their other members; null: it has none. */
#pragma once

#include "loop/request.h"

void eval_results_get(struct request *rq);
