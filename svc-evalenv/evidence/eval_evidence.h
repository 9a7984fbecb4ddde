/** svc-evalenv/evidence/: evaluation runs as parts of the graph that svc-experiments makes of an
 * experiment. */
#pragma once

#include "loop/request.h"

/** POST /internal/eval-env/evidence: evaluation runs of the account and their builds, as nodes and
 * edges of a graph (svc-experiments/evidence/evidence.h). A caller with a key that is limited to a
 * repository names it.
 *
 *     {"run_ids": ["0190…"], "repo": null}
 *
 * Beside `nodes` and `edges` it answers `hidden`: runs of other repositories. */
void eval_evidence_get(struct request *rq);
